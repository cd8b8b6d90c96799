// Matrices that products read.
#pragma once

#include <cstdint>

namespace clvet {

// A row-major matrix with `stride` elements from row to row; `transposed` reads it as its transpose
// (rows and columns are those after transposing).
struct MatrixView {
  const float* data = nullptr;
  int64_t rows = 0, columns = 0, stride = 0;
  bool transposed = false;
};

// The right matrix of a product. Threads ask it at the same time.
class RightMatrix {
 public:
  virtual ~RightMatrix() = default;
  // Elements (k + d, column + j) for d < depth, j < count to to[d * stride + j].
  virtual void pack(int64_t k, int64_t depth, int64_t column, int64_t count, float* to,
                    int64_t stride) const = 0;
  // Where it lies row by row; nullptr where it does not. `stride`: from row to row.
  virtual const float* lies(int64_t& stride) const;

 protected:
  RightMatrix() = default;
  RightMatrix(const RightMatrix&) = default;
  RightMatrix& operator=(const RightMatrix&) = default;
};

// One that lies in memory.
class StoredMatrix : public RightMatrix {
 public:
  explicit StoredMatrix(const MatrixView& view) : view_(view) {}
  void pack(int64_t k, int64_t depth, int64_t column, int64_t count, float* to,
            int64_t stride) const override;
  const float* lies(int64_t& stride) const override;

 private:
  MatrixView view_;
};

}  // namespace clvet
