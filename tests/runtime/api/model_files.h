// Files of small networks, for tests that see the public headers alone.
#pragma once

#include <string>

namespace clvet::test {

// y = 2 x, of two columns and any number of rows, float32; and n, of int64 [2], as it is given: m.
std::string write_doubling(const std::string& folder);
// Reshapes x (float32 [6]) to `shape` (int64 [2]): y.
std::string write_reshaping(const std::string& folder);
// `layers` products of x (float32 [rows, 64]) with a matrix, one after another: y. Each keeps the
// size of the values.
std::string write_long(const std::string& folder, int layers);
// y = not b, of two columns and any number of rows.
std::string write_negating(const std::string& folder);
// A small language model of random weights, whose tokens are letters.
std::string write_language_model(const std::string& folder);

}  // namespace clvet::test
