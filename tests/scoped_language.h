// The language of this process, for a test.
#pragma once

#include "base/language.h"

namespace clvet::test {

// Sets it, and puts back what was there.
class ScopedLanguage {
 public:
  explicit ScopedLanguage(Language wanted) : old_(language()) { set_language(wanted); }
  ~ScopedLanguage() { set_language(old_); }
  ScopedLanguage(const ScopedLanguage&) = delete;
  ScopedLanguage& operator=(const ScopedLanguage&) = delete;

 private:
  Language old_;
};

}  // namespace clvet::test
