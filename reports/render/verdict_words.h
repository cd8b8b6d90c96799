// What each verdict means to a reader: its letter, its tone and one line of explanation.
#pragma once

#include <span>

#include "probe/report/report.h"

namespace clvet {

struct VerdictWord {
  Verdict verdict;
  char letter;
  const char* tone;  // good, dead, false, refused, slow, none, open: a class of page.css
  const char* meaning;
};

// The gravest first; every verdict once, every letter once.
std::span<const VerdictWord> verdict_words();
const VerdictWord& word_of(Verdict verdict);

// True for what a driver or clvet did wrong: neither right, nor not tried.
bool is_failure(Verdict verdict);

}  // namespace clvet
