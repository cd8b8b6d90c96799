#include "runtime/ops/support/winograd.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/contract.h"
#include "kernels/winograd.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/lowering.h"

namespace clvet {
namespace {

bool is_transformed(const LoweredCall& conv) {
  using Wanted = std::pair<std::string_view, int64_t>;
  constexpr std::array wanted = {Wanted{"KH", kWinogradTaps}, Wanted{"KW", kWinogradTaps},
                                 Wanted{"stride_h", 1},       Wanted{"stride_w", 1},
                                 Wanted{"dil_h", 1},          Wanted{"dil_w", 1}};
  return conv.op == "conv2d" && conv.dims.at("C") >= kWinogradChannels &&
         std::ranges::all_of(wanted, [&](const Wanted& row) {
           return conv.dims.find(row.first)->second == row.second;
         });
}

// Those of `dims` with these names.
Dims picked(const Dims& dims, std::initializer_list<const char*> names) {
  Dims some;
  for (const char* name : names) some[name] = dims.at(name);
  return some;
}

// What the call before made.
LoweredInput made(int call) { return {"x", -1 - call, View::kChannelsLast}; }

LoweredCall whole_call(const LoweredCall& conv) {
  LoweredCall whole = conv;
  whole.op = "winograd";
  whole.dims =
      picked(conv.dims, {"N", "H", "W", "C", "OC", "OH", "OW", "pad_top", "pad_left", "act"});
  whole.constants = {{"w", kWinogradPart}, {"bias"}};
  return whole;
}

std::vector<LoweredCall> three_calls(const LoweredCall& conv) {
  const Dims& dims = conv.dims;
  const int64_t across = winograd_tiles(dims.at("OW"));
  LoweredCall input, products, output = conv;
  input.op = "winograd_in";
  input.dims = picked(dims, {"N", "H", "W", "C", "OH", "OW", "pad_top", "pad_left"});
  input.inputs = conv.inputs;
  input.output = kTemporary;
  products.op = "gemm_batch";
  products.dims = {{"B", kWinogradProducts},
                   {"M", dims.at("N") * winograd_tiles(dims.at("OH")) * across},
                   {"N", dims.at("OC")},
                   {"K", dims.at("C")},
                   {"W", across}};
  put_activation({}, products);
  products.inputs = {made(0)};
  products.constants = {{"w", kWinogradPart}};
  products.output = kTemporary;
  output.op = "winograd_out";
  output.dims = picked(dims, {"N", "OH", "OW", "OC", "act"});
  output.inputs = {made(1)};
  output.constants = {{"bias"}};
  return {std::move(input), std::move(products), std::move(output)};
}

}  // namespace

std::vector<OtherCalls> winograd_ways(const LoweredCall& conv) {
  if (!is_transformed(conv)) return {};
  return {{{whole_call(conv)}}, {three_calls(conv)}};
}

Values winograd_weights(const Values& weights) {
  constexpr auto kTaps = static_cast<size_t>(kWinogradTaps);
  const size_t size = weights.size() / (kTaps * kTaps);
  Values products;
  products.reserve(size * kWinogradProducts);
  for (const auto& down : kWinogradG) {
    for (const auto& across : kWinogradG) {
      Values sums(size);
      for (size_t tap = 0; tap < kTaps * kTaps; ++tap) {
        const double factor = down[tap / kTaps] * across[tap % kTaps];
        for (size_t i = 0; i < size; ++i) sums[i] += factor * weights[tap * size + i];
      }
      products.insert(products.end(), sums.begin(), sums.end());
    }
  }
  return products;
}

}  // namespace clvet
