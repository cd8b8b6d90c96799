// How a tensor of any rank lies on the device, and what moving its elements there takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/graph/tensor.h"

namespace clvet {

inline constexpr size_t kMaxViewRank = 8;

// The order of the logical axes, outermost first. The last one is c; those before it fill w, h and
// n from the right, n takes the rest.
class View {
 public:
  // [N,C,...]: axis 1 is c. Of rank 3, [N,C,W] has h = 1.
  static const View kChannelsFirst;
  // As the shape is written.
  static const View kChannelsLast;
  // `order` is a permutation of 0..rank-1; one of the above where that says the same. Of more than
  // kMaxViewRank axes, another one suits nothing.
  static View of(const std::vector<int64_t>& order);
  // As written but for `axis`, which is c.
  static View with_channels(int64_t axis, size_t rank);

  // Of a tensor of that rank; empty where the view does not suit it (kChannelsFirst needs 2 to 4
  // axes).
  std::vector<int64_t> order(size_t rank) const;
  bool operator==(const View&) const = default;

 private:
  enum class Kind : int8_t { kChannelsFirst, kChannelsLast, kOrder };
  constexpr explicit View(Kind kind) : kind_(kind) {}
  Kind kind_;
  int8_t rank_ = 0;
  std::array<int8_t, kMaxViewRank> order_{};
};

struct Nhwc {
  int64_t n = 1, h = 1, w = 1, c = 1;
  int64_t rows() const { return n * h * w; }
  bool operator==(const Nhwc&) const = default;
};
// nullopt where the rank does not suit the view.
std::optional<Nhwc> view_of(const Shape& shape, const View& view);

// With leading extents of 1 up to `rank`; as it is where it has that many axes.
Shape padded_shape(Shape shape, size_t rank);
// The view of such a shape under which its elements lie as they do under `view` of one of `from`.
View padded_view(const View& view, size_t from, size_t rank);

// Whether both views put the elements of a tensor in the same order, and the same ones in c.
bool same_order(const Shape& shape, const View& a, const View& b);

// How far one index of an axis reaches on the device.
struct Step {
  int64_t rows = 0, channels = 0;
  Step operator*(int64_t count) const { return {rows * count, channels * count}; }
  bool operator==(const Step&) const = default;
};
// One for each logical axis. The view must suit the shape.
std::vector<Step> steps_of(const Shape& shape, const View& view);

// `values` in row-major order of `shape` as rows of c values, or back.
void to_device_order(const float* values, const Shape& shape, const View& view, float* out);
void from_device_order(const float* device, const Shape& shape, const View& view, float* out);

}  // namespace clvet
