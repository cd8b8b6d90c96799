// A convolution by Winograd, as one operation and as three, beside conv2d.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/tolerance.h"
#include "kernels/winograd.h"

namespace clvet {
namespace {

struct Convolution {
  std::string name;
  int64_t n, h, w, c, oc, pad_top, pad_left, oh, ow;

  Dims dims() const {
    return {{"N", n},     {"H", h},        {"W", w},
            {"C", c},     {"OC", oc},      {"KH", 3},
            {"KW", 3},    {"stride_h", 1}, {"stride_w", 1},
            {"dil_h", 1}, {"dil_w", 1},    {"pad_top", pad_top},
            {"OH", oh},   {"OW", ow},      {"pad_left", pad_left}};
  }
  int64_t tiles() const { return n * winograd_tiles(oh) * winograd_tiles(ow); }
};

using Maker = std::function<double(std::mt19937&)>;

Values made(int64_t count, const Maker& maker, uint32_t seed) {
  std::mt19937 random(seed);
  Values values(static_cast<size_t>(count));
  for (double& value : values) value = static_cast<float>(maker(random));
  return values;
}

struct Operands {
  Values x, w, bias;
  Operands(const Convolution& conv, const Maker& of_x, const Maker& of_w)
      : x(made(conv.n * conv.h * conv.w * conv.c, of_x, 1)),
        w(made(9 * conv.c * conv.oc, of_w, 2)),
        bias(made(conv.oc, of_w, 3)) {}
};

ReferenceResult reference(const std::string& op, const Dims& dims,
                          std::map<std::string, Values, std::less<>> tensors) {
  return find_op_contract(op)->reference({dims, {}, std::move(tensors)});
}

ReferenceResult direct(const Convolution& conv, const Operands& given) {
  return reference("conv2d", conv.dims(), {{"x", given.x}, {"w", given.w}, {"bias", given.bias}});
}

// G w G', rounded as a device stores it.
Values filters(const Convolution& conv, const Values& w) {
  const int64_t size = conv.c * conv.oc;
  Values products;
  for (const auto& down : kWinogradG) {
    for (const auto& across : kWinogradG) {
      for (int64_t i = 0; i < size; ++i) {
        double sum = 0;
        for (int64_t tap = 0; tap < 9; ++tap) {
          sum += down[static_cast<size_t>(tap / 3)] * across[static_cast<size_t>(tap % 3)] *
                 w[static_cast<size_t>(tap * size + i)];
        }
        products.push_back(static_cast<float>(sum));
      }
    }
  }
  return products;
}

Values rounded(Values values) {
  for (double& value : values) value = static_cast<float>(value);
  return values;
}

// Every sum of a product in float, term by term.
Values products_in_float(const Convolution& conv, const Values& x, const Values& w) {
  Values y;
  for (int64_t row = 0; row < kWinogradProducts * conv.tiles(); ++row) {
    const int64_t matrix = row / conv.tiles();
    std::vector<float> sums(static_cast<size_t>(conv.oc));
    for (int64_t k = 0; k < conv.c; ++k) {
      const auto factor = static_cast<float>(x[static_cast<size_t>(row * conv.c + k)]);
      for (int64_t o = 0; o < conv.oc; ++o) {
        const double weight = w[static_cast<size_t>((matrix * conv.c + k) * conv.oc + o)];
        sums[static_cast<size_t>(o)] += factor * static_cast<float>(weight);
      }
    }
    y.insert(y.end(), sums.begin(), sums.end());
  }
  return y;
}

// As a device computes it at precision high: what the operations hand on is float.
Values by_winograd(const Convolution& conv, const Operands& given) {
  const Dims dims = conv.dims();
  const Values x = rounded(reference("winograd_in", dims, {{"x", given.x}}).value);
  const Values products = products_in_float(conv, x, filters(conv, given.w));
  return rounded(reference("winograd_out", dims, {{"x", products}, {"bias", given.bias}}).value);
}

Values at_once(const Convolution& conv, const Operands& given) {
  return reference("winograd", conv.dims(),
                   {{"x", given.x}, {"w", filters(conv, given.w)}, {"bias", given.bias}})
      .value;
}

double noise(std::mt19937& random) { return std::uniform_real_distribution<double>(-1, 1)(random); }

TEST(Winograd, IsTheConvolutionAtEveryBorder) {
  const std::vector<Convolution> cases = {
      {"even", 1, 4, 6, 4, 4, 1, 1, 4, 6},         {"odd", 1, 5, 7, 3, 5, 1, 1, 5, 7},
      {"no border", 2, 6, 9, 2, 3, 0, 0, 4, 7},    {"wide border", 1, 3, 4, 2, 1, 2, 2, 5, 6},
      {"before alone", 1, 4, 5, 1, 2, 2, 0, 4, 3}, {"behind alone", 2, 4, 5, 1, 2, 0, 0, 4, 5},
      {"one pixel", 1, 1, 1, 2, 2, 1, 1, 1, 1},    {"one output", 1, 3, 3, 5, 6, 0, 0, 1, 1},
  };
  for (const Convolution& conv : cases) {
    const Operands given(conv, noise, noise);
    for (const Values& y : {by_winograd(conv, given), at_once(conv, given)}) {
      const auto found = compare(direct(conv, given), y, Precision::kHigh);
      EXPECT_TRUE(found.right) << conv.name << ": " << found.got << " in place of " << found.want;
    }
  }
}

struct Inputs {
  const char* name;
  Maker of_x, of_w;
  double most;  // of the error, in bounds
};

// The bound is the direct convolution's: that of a device that computes it term by term.
TEST(Winograd, KeepsTheBoundOfTheConvolutionAtPrecisionHigh) {
  const Maker behind_relu = [](std::mt19937& random) { return std::max(noise(random), 0.0); };
  const Maker colours = [](std::mt19937& random) { return std::floor(128 + 127 * noise(random)); };
  const Maker normal = [](std::mt19937& random) {
    return std::normal_distribution<double>(0.1, 1)(random);
  };
  const Maker long_tails = [](std::mt19937& random) {
    return std::normal_distribution<double>()(random) *
           std::exp(std::normal_distribution<double>()(random));
  };
  const std::vector<Inputs> inputs = {{"noise", noise, noise, 0.3},
                                      {"behind Relu", behind_relu, normal, 0.4},
                                      {"colours", colours, noise, 0.3},
                                      {"normal", normal, normal, 0.3},
                                      {"long tails", long_tails, long_tails, 1}};
  for (const int64_t channels : {kWinogradChannels, int64_t{64}, int64_t{200}}) {
    const Convolution conv{"", 1, 9, 10, channels, 24, 1, 1, 9, 10};
    for (const Inputs& row : inputs) {
      const Operands given(conv, row.of_x, row.of_w);
      const auto found = compare(direct(conv, given), by_winograd(conv, given), Precision::kHigh);
      EXPECT_LT(found.worst_ratio, row.most) << channels << " channels, " << row.name;
    }
  }
}

// What tells it from other transforms: an input reaches no output beyond its own windows.
TEST(Winograd, KeepsWhatIsNoNumberInItsWindows) {
  const Convolution conv{"", 1, 6, 7, 2, 3, 1, 1, 6, 7};
  for (size_t i = 0; i < 6 * 7; ++i) {
    Operands given(conv, noise, noise);
    given.x[i * 2] = std::nan("");
    for (const Values& y : {by_winograd(conv, given), at_once(conv, given)}) {
      const auto found = compare(direct(conv, given), y, Precision::kHigh);
      EXPECT_TRUE(found.right) << "pixel " << i << ": " << found.bad;
    }
  }
}

}  // namespace
}  // namespace clvet
