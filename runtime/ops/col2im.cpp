// Col2Im: adds the columns of blocks back into an image of any number of axes.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_col2im {
namespace {

constexpr int64_t kLargest = int64_t{1} << 30;  // sums of a few of them fit

struct Problem {
  Shape image, block, places;  // places: how many blocks along each axis
  std::vector<int64_t> dilations, pads, strides;
};

Result<std::vector<int64_t>> list_of(const OpCall& call, const char* name, size_t count,
                                     int64_t fallback, int64_t least) {
  const auto* given = call.node.ints_attr(name);
  std::vector<int64_t> values = given ? *given : std::vector<int64_t>(count, fallback);
  if (values.size() != count) return bad_attribute(call, name);
  for (const int64_t value : values) {
    if (value < least || value > kLargest) return bad_attribute(call, name, value);
  }
  return values;
}

Status check_sizes(const OpCall& call, const Problem& p) {
  if (call.shape(1).size() != 1 || p.image.empty()) return bad_shape(call, 1);
  if (p.block.size() != p.image.size() || call.shape(2).size() != 1) return misfit(call, 1, 2);
  for (size_t i = 0; i < p.image.size(); ++i) {
    if (p.image[i] < 1 || p.image[i] > kLargest)
      return bad_value(call, 1, static_cast<double>(p.image[i]));
    if (p.block[i] < 1 || p.block[i] > kLargest)
      return bad_value(call, 2, static_cast<double>(p.block[i]));
  }
  CLVET_RETURN_IF_ERROR(checked_elements(p.image));
  CLVET_RETURN_IF_ERROR(checked_elements(p.block));
  return {};
}

Result<Problem> problem_of(const OpCall& call) {
  if (call.shape(0).size() != 3) return bad_shape(call, 0);
  Problem p;
  CLVET_ASSIGN_OR_RETURN(p.image, call.integers(1));
  CLVET_ASSIGN_OR_RETURN(p.block, call.integers(2));
  CLVET_RETURN_IF_ERROR(check_sizes(call, p));
  const size_t axes = p.image.size();
  CLVET_ASSIGN_OR_RETURN(p.dilations, list_of(call, "dilations", axes, 1, 1));
  CLVET_ASSIGN_OR_RETURN(p.pads, list_of(call, "pads", 2 * axes, 0, 0));
  CLVET_ASSIGN_OR_RETURN(p.strides, list_of(call, "strides", axes, 1, 1));
  for (size_t i = 0; i < axes; ++i) {
    const int64_t reach = p.dilations[i] * (p.block[i] - 1) + 1;
    const int64_t room = p.image[i] + p.pads[i] + p.pads[i + axes] - reach;
    if (room < 0) return misfit(call, 1, 2);
    p.places.push_back(room / p.strides[i] + 1);
  }
  CLVET_ASSIGN_OR_RETURN(const int64_t columns, checked_elements(p.places));
  if (call.shape(0)[2] != columns) return misfit(call, 0, 1);
  if (call.shape(0)[1] % elements_of(p.block) != 0) return misfit(call, 0, 2);
  return p;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  Shape out{call.shape(0)[0], call.shape(0)[1] / elements_of(p.block)};
  out.insert(out.end(), p.image.begin(), p.image.end());
  return Types{{call.type(0).dtype, out}};
}

// Where tap `tap` of the block at `place` falls in the image; -1: in the padding.
int64_t offset_of(const Problem& p, int64_t tap, int64_t place) {
  int64_t offset = 0, step = 1;
  for (size_t i = p.image.size(); i-- > 0; step *= p.image[i]) {
    const int64_t at =
        place % p.places[i] * p.strides[i] - p.pads[i] + tap % p.block[i] * p.dilations[i];
    if (at < 0 || at >= p.image[i]) return -1;
    offset += at * step;
    place /= p.places[i];
    tap /= p.block[i];
  }
  return offset;
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  const int64_t taps = elements_of(p.block), places = elements_of(p.places),
                size = elements_of(p.image), planes = outputs[0].elements() / size;
  return visit_floats(call.type(0).dtype, [&]<class T>() {
    const T* x = call.tensor(0).data<T>();
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t place = 0; place < places; ++place) {
        const int64_t to = offset_of(p, tap, place);
        for (int64_t c = 0; to >= 0 && c < planes; ++c)
          outputs[0].data<T>()[c * size + to] += x[(c * taps + tap) * places + place];
      }
    }
  });
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Col2Im"},
    .since = 18,
    .inputs = "T l l",
    .attributes = "dilations:I pads:I strides:I",
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_col2im
