// Winograd's F(2x2, 3x3): 2 x 2 outputs of a 3 x 3 convolution of stride 1 from 4 x 4 inputs, with
// 16 products for each channel in place of 36.
//
//   y = A ((G w G') * (B d B')) A'   element by element in the middle, summed over the channels
//
// d is a tile of the input, which overlaps its neighbours by two pixels, and w a filter. All
// factors are 0, 1 or a half: B and A add and subtract alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace clvet {

inline constexpr int64_t kWinogradOutputs = 2;  // of a tile, along each axis
inline constexpr int64_t kWinogradTaps = 3;
inline constexpr int64_t kWinogradInputs = kWinogradOutputs + kWinogradTaps - 1;
// Products of a tile, each the row of a matrix of its own.
inline constexpr int64_t kWinogradProducts = kWinogradInputs * kWinogradInputs;

// With fewer input channels than these its error is not surely within the bound of the convolution
// (kernels/tolerance.h). Where a filter's largest factor meets an input that it has nothing to do
// with (they are in different places of the window), their product is added and taken away again;
// among the sums of many channels that is lost, and of few it may be all there is.
inline constexpr int64_t kWinogradChannels = 32;

template <size_t rows, size_t columns>
using WinogradMatrix = std::array<std::array<double, columns>, rows>;

inline constexpr WinogradMatrix<4, 4> kWinogradB = {
    {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}}};
inline constexpr WinogradMatrix<4, 3> kWinogradG = {
    {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}}};
inline constexpr WinogradMatrix<2, 4> kWinogradA = {{{1, 1, 1, 0}, {0, 1, -1, -1}}};

// Tiles that cover `outputs` along an axis.
inline constexpr int64_t winograd_tiles(int64_t outputs) {
  return (outputs + kWinogradOutputs - 1) / kWinogradOutputs;
}

}  // namespace clvet
