#include "runtime/onnx/old_operators.h"

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "runtime/graph/graph.h"

namespace clvet {
namespace {

constexpr int kModern = 7;

enum class Old {
  kBroadcasts,    // by the attribute broadcast, from the attribute axis on
  kByChannel,     // input 1 is of one element, or of one for each channel
  kAddsRow,       // its third input by the attribute broadcast
  kTrainsOrTests  // by the attribute is_test
};

struct OldRow {
  std::string_view op;
  Old old;
};

constexpr OldRow kRows[] = {
    {"Add", Old::kBroadcasts},   {"Sub", Old::kBroadcasts},
    {"Mul", Old::kBroadcasts},   {"Div", Old::kBroadcasts},
    {"Pow", Old::kBroadcasts},   {"And", Old::kBroadcasts},
    {"Or", Old::kBroadcasts},    {"Xor", Old::kBroadcasts},
    {"Equal", Old::kBroadcasts}, {"Greater", Old::kBroadcasts},
    {"Less", Old::kBroadcasts},  {"PRelu", Old::kByChannel},
    {"Gemm", Old::kAddsRow},     {"BatchNormalization", Old::kTrainsOrTests},
};

// Where no axis is given, the last axes are those of input 1, as shapes say now.
std::optional<int64_t> take_axis(Node& node) {
  const bool given = node.int_attr("broadcast", 0) != 0 && node.attributes.contains("axis");
  const int64_t axis = node.int_attr("axis", -1);
  node.attributes.erase("broadcast");
  node.attributes.erase("axis");
  return given && axis >= 0 ? std::optional(axis) : std::nullopt;
}

}  // namespace

Result<std::optional<int64_t>> modernise(Node& node) {
  if (!node.domain.empty() || node.opset >= kModern) return std::nullopt;
  for (const OldRow& row : kRows) {
    if (row.op != node.op) continue;
    if (row.old == Old::kTrainsOrTests && node.int_attr("is_test", 0) == 0)
      return fail(ErrorCode::kUnsupported,
                  "{} of the operator set {} trains unless its attribute is_test is 1; export the "
                  "model for inference",
                  node.op, node.opset);
    node.opset = kModern;
    node.attributes.erase("consumed_inputs");
    node.attributes.erase("is_test");
    if (row.old == Old::kBroadcasts) return take_axis(node);
    node.attributes.erase("broadcast");
    return row.old == Old::kByChannel ? std::optional<int64_t>(1) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace clvet
