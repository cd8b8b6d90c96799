// What the programs of the public library share: a model, a place to run it, inputs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clvet/clvet.h"

namespace library_bench {

struct Setting {
  std::string model, report, device = "host", state_dir, input;
  clvet::Shape shape;
  std::string ledger;  // of tests/fakes; empty: none
  int sessions = 8, runs = 200, resizes = 100, rounds = 3;
  bool share = false;  // one context for all sessions
};

// Ends the program where a call failed.
template <class T>
T must(clvet::Result<T> result);
void must(const clvet::Status& status);
[[noreturn]] void give_up(const std::string& why);

template <class T>
T must(clvet::Result<T> result) {
  if (!result) give_up(result.error().message);
  return std::move(*result);
}

// The one that all sessions share; nothing where each has its own.
std::optional<clvet::Context> context_of(const Setting& setting);
clvet::SessionOptions options_of(const Setting& setting,
                                 const std::optional<clvet::Context>& context = {});
// Values of no pattern that differ from one `seed` to the next.
std::vector<float> values_of(const clvet::Shape& shape, uint32_t seed);
void set(clvet::Session& session, const Setting& setting, const clvet::Shape& shape,
         const std::vector<float>& values);
// Of the first output.
std::vector<float> answer_of(clvet::Session& session);

int endurance(const Setting& setting);
int threads(const Setting& setting);
int latency(const Setting& setting);

}  // namespace library_bench
