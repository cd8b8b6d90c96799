// What a number on the command line may be, and what is said of a word that is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace clvet {

struct NumberRule {
  bool above_zero = false;
  bool seconds = false;                              // what it counts
  std::optional<std::pair<int64_t, int64_t>> range;  // both belong to it
};

// What is wrong with `value` as a decimal number of type T (int, int64_t, uint64_t or double), in
// the user's language; empty where it is one that the rule allows. NaN and infinities are none. A
// whole number is written back without leading zeros, which CLI11 would read as octal.
template <class T>
std::string fault_of_number(const NumberRule& rule, std::string& value);

extern template std::string fault_of_number<int>(const NumberRule&, std::string&);
extern template std::string fault_of_number<int64_t>(const NumberRule&, std::string&);
extern template std::string fault_of_number<uint64_t>(const NumberRule&, std::string&);
extern template std::string fault_of_number<double>(const NumberRule&, std::string&);

}  // namespace clvet
