// Rough times of what a plan holds, only to rank plans; and whether tensors are the same bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/combination.h"
#include "kernels/contract.h"
#include "runtime/plan/plan.h"

namespace clvet {

inline constexpr double kDeviceBytesPerMs = 5e6;
inline constexpr double kTransferBytesPerMs = 1e6;
inline constexpr double kLaunchMs = 0.01;

inline int64_t rows_of(const TensorRole& role) { return role.n * role.h * role.w; }

// The same bytes: in a buffer however the rows are split, in an image with lines of one length.
inline bool same_bytes(const TensorRole& a, const TensorRole& b, Storage storage) {
  return a.c == b.c && rows_of(a) == rows_of(b) && (storage == Storage::kBuffer || a.w == b.w);
}

inline double transfer_ms(const DeviceTensor& tensor) {
  return kLaunchMs + static_cast<double>(device_bytes(tensor)) / kTransferBytesPerMs;
}

inline double kernel_ms(double flops, double gflops, size_t bytes) {
  const double arithmetic = gflops > 0 ? flops / gflops * 1e-6 : 0;
  return kLaunchMs + std::max(arithmetic, static_cast<double>(bytes) / kDeviceBytesPerMs);
}

}  // namespace clvet
