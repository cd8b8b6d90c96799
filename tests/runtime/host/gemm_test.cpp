// The CPU path's matrix products, dot products and loops.
#include "runtime/host/gemm.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "runtime/graph/tensor.h"
#include "runtime/host/dot.h"
#include "runtime/host/parallel.h"
#include "tests/runtime/helpers.h"

namespace clvet {
namespace {

using test::noise;

std::vector<float> values(int64_t count, uint32_t seed) {
  return test::floats(noise({count}, seed));
}

// Matrices that lie in wider ones: what lies between the rows is neither read nor written.
TEST(HostGemm, EqualsALoopForEveryTransposeStrideAndExtent) {
  constexpr int64_t kWide = 23;
  const std::vector<float> a = values(kWide * kWide, 1), b = values(kWide * kWide, 2);
  const std::vector<float> before = values(kWide * kWide, 3);
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{1, 1, 1},
                                {3, 5, 4},
                                {17, 1, 2},
                                {2, 19, 1},
                                {5, 0, 3},
                                {8, 16, 20}}) {
    for (int which = 0; which < 8; ++which) {
      const bool trans_a = which & 1, trans_b = which & 2, accumulate = which & 4;
      std::vector<float> c = before;
      gemm({a.data(), m, k, kWide, trans_a}, {b.data(), k, n, kWide, trans_b}, c.data(), kWide,
           accumulate);
      for (int64_t i = 0; i < kWide; ++i) {
        for (int64_t j = 0; j < kWide; ++j) {
          const auto at = static_cast<size_t>(i * kWide + j);
          if (i >= m || j >= n) {
            ASSERT_EQ(c[at], before[at]) << "written outside at " << i << ' ' << j;
            continue;
          }
          double want = accumulate ? static_cast<double>(before[at]) : 0;
          for (int64_t t = 0; t < k; ++t) {
            want += double{a[static_cast<size_t>(trans_a ? t * kWide + i : i * kWide + t)]} *
                    b[static_cast<size_t>(trans_b ? j * kWide + t : t * kWide + j)];
          }
          // 20 terms below 1 in float32.
          ASSERT_NEAR(c[at], want, 2e-6) << m << ' ' << k << ' ' << n << ' ' << which;
        }
      }
    }
  }
}

// Extents around those of tiles, panels and blocks; each sum has `k` terms below 1.
TEST(HostGemm, EqualsALoopBeyondItsBlocksAtEveryWidth) {
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{13, 300, 101},
                                {7, 257, 49},
                                {1, 70, 500},
                                {3, 530, 33},
                                {70, 31, 245},
                                {67, 301, 1},
                                {35, 70, 7},
                                {75, 600, 97}}) {
    const std::vector<float> a = values(m * k, 1), b = values(k * n, 2);
    for (int which = 0; which < 4; ++which) {
      const bool trans_a = which & 1, trans_b = which & 2;
      std::vector<double> want(static_cast<size_t>(m * n));
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t t = 0; t < k; ++t) {
          for (int64_t j = 0; j < n; ++j)
            want[static_cast<size_t>(i * n + j)] +=
                double{a[static_cast<size_t>(trans_a ? t * m + i : i * k + t)]} *
                b[static_cast<size_t>(trans_b ? j * k + t : t * n + j)];
        }
      }
      test::at_each_width([&] {
        std::vector<float> c(want.size());
        gemm({a.data(), m, k, trans_a ? m : k, trans_a}, {b.data(), k, n, trans_b ? k : n, trans_b},
             c.data(), n, false);
        for (size_t i = 0; i < c.size(); ++i)
          ASSERT_NEAR(c[i], want[i], 1e-7 * static_cast<double>(k))
              << m << ' ' << which << ' ' << i;
      });
    }
  }
}

// Zero times infinity is no number, also where a matrix is padded to whole vectors.
TEST(HostGemm, KeepsNaNAndInfinityInTheirRowAndColumn) {
  const int64_t m = 11, k = 5, n = 51;
  std::vector<float> a(m * k, 1), b(k * n, 2);
  a[3 * k + 2] = std::nanf("");
  b[2 * n + 50] = INFINITY;
  test::at_each_width([&] {
    std::vector<float> c(m * n);
    gemm({a.data(), m, k, k}, {b.data(), k, n, n}, c.data(), n, false);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const float got = c[static_cast<size_t>(i * n + j)];
        if (i == 3)
          EXPECT_TRUE(std::isnan(got)) << j;
        else
          EXPECT_EQ(got, j == 50 ? INFINITY : 10) << i << ' ' << j;
      }
    }
  });
}

TEST(HostGemm, OverwritesWhatIsNoNumber) {
  const float one = 1;
  float c = std::nanf("");
  gemm({&one, 1, 1, 1}, {&one, 1, 1, 1}, &c, 1, false);
  EXPECT_EQ(c, 1);
  c = std::nanf("");
  gemm({&one, 1, 0, 1}, {&one, 0, 1, 1}, &c, 1, false);
  EXPECT_EQ(c, 0);
}

TEST(HostGemm, OfNoRowsOrColumnsWritesNothing) {
  const float one = 1;
  float c = 7;
  for (const bool transposed : {false, true}) {
    gemm({&one, 0, 1, 1}, {&one, 1, 1, 1, transposed}, &c, 1, false);
    gemm({&one, 1, 1, 1}, {&one, 1, 0, 1, transposed}, &c, 1, false);
  }
  EXPECT_EQ(c, 7);
}

// Every number of elements left over by the vector loops, from an address that is not aligned.
TEST(Dot, EqualsALoopForEveryLength) {
  const std::vector<float> a = values(140, 4), b = values(140, 5);
  double want = 0;
  for (size_t count = 0; count < 130; ++count) {
    test::at_each_width(
        [&] { EXPECT_NEAR(dot_f32(a.data() + 1, b.data() + 3, count), want, 1e-5) << count; });
    want += double{a[count + 1]} * b[count + 3];
  }
}

TEST(Dot, OfBlocksAddsScaledQuantsAndOffsets) {
  for (const bool nibbles : {false, true}) {
    for (const size_t blocks : {0u, 1u, 2u, 5u, 37u}) {
      std::vector<uint8_t> quants(blocks * 32);
      for (size_t i = 0; i < quants.size(); ++i)
        quants[i] = static_cast<uint8_t>((i * 37 + 250) % (nibbles ? 16 : 256));
      const auto count = static_cast<int64_t>(blocks);
      const std::vector<float> x = values(count * 32, 6), scales = values(count, 7),
                               offsets = values(count, 8);
      std::vector<float> sums;
      double want = 0, magnitude = 0;
      for (size_t b = 0; b < blocks; ++b) {
        double dot = 0, sum = 0;
        for (size_t i = b * 32; i < (b + 1) * 32; ++i) {
          dot += double{x[i]} * quants[i];
          sum += double{x[i]};
          magnitude += std::fabs(double{scales[b]} * x[i] * quants[i]);
        }
        sums.push_back(static_cast<float>(sum));
        want += scales[b] * dot + double{offsets[b]} * sums[b];
        magnitude += std::fabs(double{offsets[b]} * sums[b]);
      }
      std::vector<uint8_t> packed = quants;
      if (nibbles) pack_nibbles(packed);
      EXPECT_EQ(packed.size(), nibbles ? blocks * 16 : blocks * 32);
      // In float32 a term passes through at most 8 sums of its block, two for each block, and 7
      // more.
      const double roundings = 15 + 2.0 * static_cast<double>(blocks);
      const double bound = std::min(2e-2, roundings * 0x1p-24 * magnitude);
      const BlockRow row{packed.data(), scales.data(), offsets.data(), nibbles};
      test::at_each_width([&] {
        EXPECT_NEAR(dot_blocks(row, x.data(), sums.data(), blocks), want, bound) << blocks;
        std::vector<float> expanded(quants.size());
        expand_blocks(row, blocks, expanded.data());
        for (size_t i = 0; i < quants.size(); ++i)
          EXPECT_NEAR(expanded[i], double{scales[i / 32]} * quants[i] + offsets[i / 32], 3e-5) << i;
      });
    }
  }
}

TEST(Dot, OfManyRowsIsThatOfEachPair) {
  for (const size_t count : {0u, 5u, 33u, 70u}) {
    for (const auto& [m, n] : {std::array<int64_t, 2>{1, 1}, {4, 4}, {5, 3}, {9, 6}}) {
      const auto width = static_cast<int64_t>(count);
      const std::vector<float> a = values(m * (width + 2), 4), b = values(n * (width + 1), 5);
      test::at_each_width([&] {
        std::vector<float> out(static_cast<size_t>(m * n), -1);
        dots_f32({a.data(), m, width + 2}, {b.data(), n, width + 1}, count, out.data(), 1, m);
        for (int64_t i = 0; i < m; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            double want = 0;
            for (int64_t k = 0; k < width; ++k)
              want += double{a[static_cast<size_t>(i * (width + 2) + k)]} *
                      b[static_cast<size_t>(j * (width + 1) + k)];
            EXPECT_NEAR(out[static_cast<size_t>(j * m + i)], want, 1e-5) << count << ' ' << i << j;
          }
        }
      });
    }
  }
}

TEST(ParallelFor, VisitsEachIndexOnceInPartsOfTheGrain) {
  for (const int64_t count : {0, 1, 7, 100, 4097}) {
    for (const int64_t grain : {1, 7, 64, 5000}) {
      std::vector<std::atomic<int>> visits(static_cast<size_t>(count));
      std::atomic<int64_t> small_parts = 0;
      parallel_for(count, grain, [&](int64_t first, int64_t end) {
        if (end - first < grain) ++small_parts;
        for (int64_t i = first; i < end; ++i) ++visits[static_cast<size_t>(i)];
      });
      EXPECT_LE(small_parts, 1) << "only the last part is smaller";
      for (const auto& visit : visits) ASSERT_EQ(visit, 1) << count << ' ' << grain;
    }
  }
}

TEST(ParallelFor, SumsAlikeLoopAfterLoop) {
  std::vector<int64_t> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0);
  for (int round = 0; round < 200; ++round) {
    std::atomic<int64_t> sum = 0;
    parallel_for(1000, 1, [&](int64_t first, int64_t end) {
      sum += std::accumulate(numbers.begin() + first, numbers.begin() + end, int64_t{0});
    });
    ASSERT_EQ(sum, 499500) << round;
  }
}

}  // namespace
}  // namespace clvet
