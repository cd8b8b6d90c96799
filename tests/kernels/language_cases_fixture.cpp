#include <cmath>
#include <vector>

#include "tests/kernels/tiny_case.h"

namespace clvet {
namespace {

// One head each of queries, keys and values at position 1 of 2: turned by a quarter, by nothing, by
// half a turn and by a quarter back.
TinyCase rope_neighbours() {
  constexpr double n = kUntouched;
  return {"rope_neighbours",
          "rope",
          {{"M", 1}, {"H", 1}, {"KV", 1}, {"D", 8}, {"cap", 2}, {"P", 1}, {"halves", 0}},
          {{"x", {1,  2,  3,  4,  5,  6,  7,  8,  11, 12, 13, 14,
                  15, 16, 17, 18, 21, 22, 23, 24, 25, 26, 27, 28}},
           {"cosines", {9, 9, 9, 9, 0, 1, -1, 0}},
           {"sines", {9, 9, 9, 9, 1, 0, 0, -1}},
           {"q_scale", Values(8, 0)},
           {"k_scale", Values(8, 0)}},
          {-2,  1,   3,  4,   -5, -6, 8, -7, n, n, n, n, n,  n,  n,  n,  -12, 11, 13, 14,
           -15, -16, 18, -17, n,  n,  n, n,  n, n, n, n, 21, 22, 23, 24, 25,  26, 27, 28},
          {{"epsilon", 0}}};
}

// The same of the halves, and first divided by the root of the mean square.
TinyCase rope_halves() {
  constexpr double n = kUntouched;
  return {
      "rope_halves_of_the_norm",
      "rope",
      {{"M", 1}, {"H", 1}, {"KV", 1}, {"D", 8}, {"cap", 2}, {"P", 0}, {"halves", 1}, {"norm", 1}},
      {{"x", {2, 2, 2, 2, -2, -2, -2, -2, 1, 1, 1, 1, 7, 7, 7, 7, 1, 2, 3, 4, 5, 6, 7, 8}},
       {"cosines", {0, 1, -1, 0, 9, 9, 9, 9}},
       {"sines", {1, 0, 0, -1, 9, 9, 9, 9}},
       {"q_scale", {1, 2, 3, 4, 5, 6, 7, 8}},
       {"k_scale", {5, 10, 15, 20, 25, 30, 35, 40}}},
      {5, 2, -3, -8, 1, -6, 7, -4, -35, 2, -3, 56, 1, 42, -49, -4, n, n, n, n,
       n, n, n,  n,  1, 2,  3, 4,  5,   6, 7,  8,  n, n,  n,   n,  n, n, n, n},
      {{"epsilon", 0}}};
}

// 16 columns of gates, of which half are negative, and 16 that they let through.
TinyCase gated_product() {
  TinyCase tiny{"gemv_fused_gated",
                "gemv_fused",
                {{"N", 32}, {"K", 1}, {"gated", 1}, {"act", 1}},
                {{"x", {2}}, {"r", {0}}, {"scale", {0}}, {"w", {}}, {"bias", {}}},
                {0, 0, 0, 0, 0, 0, 0, 0, 0, 20, 44, 72, 104, 140, 180, 224}};
  for (int i = 0; i < 32; ++i) {
    tiny.tensors["w"].push_back(i < 16 ? i - 8 : 0.5);
    tiny.tensors["bias"].push_back(i < 16 ? 0 : i - 16);
  }
  return tiny;
}

// Two query heads of one key head at position 1, whose first pair turns by a quarter: the first
// asks for nothing, the second for its own key three times as much as for the one before.
TinyCase attention_of_a_turned_token() {
  constexpr double n = kUntouched;
  const double three = std::log(3.0);
  return {"attention_rope",
          "attention_rope",
          {{"H", 2}, {"KV", 1}, {"D", 8}, {"cap", 3}, {"P", 1}},
          {{"x", {0,     0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,
                  three, 5, 1, 2, 3, 4, 5, 6, 4, 4, 4, 4, 8, 8, 8, 8}},
           {"cosines", {9, 9, 9, 9, 0, 1, 1, 1, 9, 9, 9, 9}},
           {"sines", {9, 9, 9, 9, 1, 0, 0, 0, 9, 9, 9, 9}},
           {"q_scale", Values(8, 0)},
           {"k_scale", Values(8, 0)},
           {"k", {0, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}},
           {"v", {2, 4, 6, 8, 0, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}}},
          {3, 4, 5, 6, 4, 4, 4, 4, 3.5, 4,     4.5, 5, 6, 6, 6, 6,  //
           n, n, n, n, n, n, n, n, -5,  three, 1,   2, 3, 4, 5, 6, n, n, n, n, n, n, n, n,
           n, n, n, n, n, n, n, n, 4,   4,     4,   4, 8, 8, 8, 8, n, n, n, n, n, n, n, n},
          {{"epsilon", 0}, {"scale", 0.5}}};
}

// The same heads as the product of a row of one value, which its norm makes 1, with half of them
// and a bias that has the other half.
TinyCase attention_of_a_product() {
  TinyCase tiny = attention_of_a_turned_token();
  tiny.name = tiny.op = "attention_qkv";
  tiny.dims.insert({{"N", 32}, {"K", 1}, {"biased", 1}});
  Values half = tiny.tensors.at("x");
  for (double& value : half) value /= 2;
  tiny.tensors["x"] = {5};
  tiny.tensors["norm_scale"] = {1};
  tiny.tensors["w"] = tiny.tensors["bias"] = half;
  tiny.tensors.erase("q_scale");
  tiny.tensors.erase("k_scale");
  return tiny;
}

}  // namespace

std::vector<TinyCase> language_cases() {
  return {
      {"gemv_fused_norm",
       "gemv_fused",
       {{"N", 2}, {"K", 2}, {"norm", 1}},
       {{"x", {1, 7}}, {"r", {0, 0}}, {"scale", {5, 10}}, {"w", {1, 2, 3, 4}}, {"bias", {1, -1}}},
       {44, 57},
       {{"epsilon", 0}}},
      {"gemv_fused_sum",
       "gemv_fused",
       {{"N", 2}, {"K", 2}, {"add", 1}, {"act", 1}},
       {{"x", {1, 2}}, {"r", {10, 20}}, {"scale", {9, 9}}, {"w", {1, -2, 3, -4}}, {"bias", {0, 0}}},
       {17, 20}},
      {"gemv_fused_without_bias",
       "gemv_fused",
       {{"N", 2}, {"K", 2}, {"biased", 0}},
       {{"x", {1, 2}}, {"r", {0, 0}}, {"scale", {9, 9}}, {"w", {1, 2, 3, 4}}, {"bias", {50, 60}}},
       {7, 10}},
      gated_product(),
      attention_of_a_turned_token(),
      attention_of_a_product(),
      {"gather_rows",
       "gather",
       {{"O", 1}, {"E", 3}, {"I", 5}, {"R", 1}, {"C", 2}, {"W", 1}, {"OW", 5}},
       {{"x", {1, 2, 3, 4, 5, 6}}, {"index", {2, -3, 3, -4, -1}}},
       {5, 6, 1, 2, 0, 0, 0, 0, 5, 6}},
      {"gather_inside",
       "gather",
       {{"O", 2}, {"E", 2}, {"I", 1}, {"R", 2}, {"C", 1}, {"W", 4}, {"OW", 2}},
       {{"x", {1, 2, 3, 4, 5, 6, 7, 8}}, {"index", {1}}},
       {3, 4, 7, 8}},
      {"rms_norm_of_large_values",
       "rms_norm",
       {{"M", 2}, {"W", 1}, {"C", 2}},
       {{"x", {10000, 70000, -7, 1}}, {"scale", {5, 10}}},
       {1, 14, -7, 2},
       {{"epsilon", 0}}},
      {"rms_norm_with_epsilon",
       "rms_norm",
       {{"M", 1}, {"W", 1}, {"C", 2}},
       {{"x", {1, 1}}, {"scale", {4, 6}}},
       {2, 3},
       {{"epsilon", 3}}},
      {"glu",
       "glu",
       {{"M", 1}, {"W", 1}, {"F", 4}, {"act", 7}},
       {{"x", {0, std::log(3.0), -60000, 60000, 5, 4, 7, 0.5}}},
       {0, 3 * std::log(3.0), 0, 30000},
       {{"act_lo", 0}, {"act_hi", 0}}},
      rope_neighbours(),
      rope_halves(),
      {"attention_of_groups",
       "attention",
       {{"M", 1}, {"H", 2}, {"KV", 1}, {"D", 4}, {"cap", 3}, {"P", 1}},
       {{"q", {2, 0, 0, 0, 0, 2, 0, 0}},
        {"k", {0, 0, 0, 0, std::log(3.0), std::log(7.0), 0, 0, 9, 9, 9, 9}},
        {"v", {0, 4, 8, -4, 4, 8, 0, 4, 9, 9, 9, 9}}},
       {3, 7, 2, 2, 3.5, 7.5, 1, 3},
       {{"scale", 0.5}}},
      {"attention_in_a_window",
       "attention",
       {{"M", 2}, {"H", 1}, {"KV", 1}, {"D", 4}, {"cap", 3}, {"P", 1}, {"window", 2}},
       {{"q", {0, 0, 0, 0, 0, 0, 0, 0}},
        {"k", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
        {"v", {2, 4, 6, 8, 4, 4, 4, 4, 0, 8, 0, 8}}},
       {3, 4, 5, 6, 2, 6, 2, 6},
       {{"scale", 1}}},
  };
}

}  // namespace clvet
