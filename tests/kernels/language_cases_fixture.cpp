#include <cmath>
#include <cstddef>
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

// The greatest of eight comes twice: the first of them counts.
TinyCase next_token_of_two() {
  TinyCase tiny{"next_token_of_two",
                "next_token",
                {{"N", 8}, {"C", 4}},
                {{"x", {-1, 0, 3, -2, 2, 3, 1, 0}}, {"table", {}}},
                {8, 9, 10, 11, -1, 0, 3, -2, 2, 3, 1, 0, 8, 9, 10, 11}};
  for (int i = 0; i < 32; ++i) tiny.tensors["table"].push_back(i);
  return tiny;
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

Values behind(Values first, const Values& last) {
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

// Each value that `of` gives for a row and a column.
template <class Of>
Values matrix(int rows, int columns, const Of& of) {
  Values values;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) values.push_back(of(i, j));
  }
  return values;
}

// The row of heads once more, behind a layer of nines. Their norms make x 1, and what is between 1
// to 32; gates with even numbers are negative.
TinyCase second_layer_of_a_decoder() {
  const TinyCase heads = attention_of_a_turned_token();
  const auto nines = [](size_t count) { return Values(count, 9); };
  TinyCase tiny{"decoder_layers",
                "decoder_layers",
                {{"L", 2}, {"first", 1}, {"count", 1}, {"C", 32}, {"F", 32}, {"act", 1}},
                {{"x", Values(32, 5)}, {"state", Values(16 + 32 + 4 * (16 + 2) + 3 * 32, 0)}},
                {},
                heads.scalars};
  tiny.dims.insert(heads.dims.begin(), heads.dims.end());
  tiny.dims["biased"] = 1;
  for (const char* angles : {"cosines", "sines"}) tiny.tensors[angles] = heads.tensors.at(angles);
  for (const char* cache : {"k", "v"})
    tiny.tensors[cache] = behind(nines(24), heads.tensors.at(cache));
  Values half = heads.tensors.at("x");
  for (double& value : half) value /= 2;
  const auto layer = [&](const char* name, const Values& values) {
    tiny.tensors[name] = behind(nines(values.size()), values);
  };
  layer("attn_scale", half);
  layer("bias", half);
  layer("w_qkv", matrix(32, 32, [](int i, int j) { return i == j; }));
  // 5 + 4 * -0.75 or 5 + 4 * -1.75.
  layer("w_o", matrix(16, 32, [](int i, int j) { return i == 1 ? (j < 16 ? -0.75 : -1.75) : 0; }));
  layer("ffn_scale", matrix(1, 32, [](int, int j) { return j < 16 ? j + 1 : -j - 1; }));
  layer("w_gate_up", matrix(32, 64, [](int i, int j) {
          if (j >= 32) return i == 0 ? j - 32 : 0;
          return i != j ? 0 : j % 2 == 1 ? 1 : -1;
        }));
  layer("w_down", matrix(32, 32, [](int i, int j) { return i == 1 ? j : i == 3 ? 0.5 : 0; }));
  const auto between = [](int j) { return j < 16 ? 2 : -2; };
  // Of gated 1 and 3, which are 2 * 1 and 4 * 3.
  tiny.want = matrix(1, 32, [&](int, int j) { return between(j) + 2 * j + 6; });
  const auto add = [&](const Values& values) { tiny.want = behind(tiny.want, values); };
  const auto first = heads.want.begin();
  add(heads.tensors.at("x"));
  add({first, first + 16});
  add(matrix(1, 32, [&](int, int j) { return between(j); }));
  add(matrix(1, 32, [](int, int j) { return j % 2 == 1 ? (j + 1) * j : 0; }));
  for (const auto cache : {first + 16, first + 40})
    add(behind(Values(24, kUntouched), {cache, cache + 24}));
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
      next_token_of_two(),
      gated_product(),
      attention_of_a_turned_token(),
      attention_of_a_product(),
      second_layer_of_a_decoder(),
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
