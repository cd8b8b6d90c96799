#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/steps_domain.h"
#include "runtime/ops/contract/view.h"

namespace clvet {
namespace {

bool in_class(DType dtype, char klass) {
  switch (dtype) {
    case DType::kF32:
    case DType::kF16:
    case DType::kBF16:
      return klass == 'f' || klass == 's';
    case DType::kF64:
      return klass == 'f';
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
    case DType::kI64:
      return klass == 'i';
    case DType::kBool:
      return klass == 'b';
    default:
      return klass == 'u';
  }
}

bool in_classes(DType dtype, std::string_view classes) {
  for (const char klass : classes) {
    if (in_class(dtype, klass)) return true;
  }
  return false;
}

struct InputSpec {
  char type = 'T';
  bool optional = false, repeated = false;
};

std::vector<InputSpec> input_specs(std::string_view text) {
  std::vector<InputSpec> specs;
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    const char last = word.size() > 1 ? word[1] : ' ';
    specs.push_back({word[0], last == '?' || last == '*', last == '+' || last == '*'});
  }
  return specs;
}

Status check_attribute(const OpDef& def, const Node& node, const std::string& key,
                       const Attribute& attribute) {
  const std::string word = key + ":" + attribute.kind();
  for (const std::string& allowed : split(def.attributes, ' ')) {
    if (allowed == word) return {};
    if (!allowed.starts_with(word + '=')) continue;
    const std::string words = allowed.substr(word.size() + 1);
    const auto values = split(words, '|');
    const auto& value = *attribute.get_if<std::string>();
    if (std::find(values.begin(), values.end(), value) != values.end()) return {};
    return fail(ErrorCode::kInvalidArgument, "{}'s attribute {} is '{}', but must be one of {}",
                node.op, key, one_line(value), words.substr(words.starts_with('|') ? 1 : 0));
  }
  return fail(ErrorCode::kUnsupported, "{} takes no attribute '{}' of the kind '{}'", node.op,
              one_line(key), attribute.kind());
}

bool type_fits(char type, DType dtype, std::string_view classes) {
  switch (type) {
    case 'T':
      return in_classes(dtype, classes);
    case 'i':
      return dtype == DType::kI32 || dtype == DType::kI64;
    case 'l':
      return dtype == DType::kI64;
    case 'f':
      return in_class(dtype, 'f');
    case 'b':
      return dtype == DType::kBool;
    default:
      return true;
  }
}

}  // namespace

const OpDef* find_op(std::string_view domain, std::string_view name) {
  using Key = std::pair<std::string_view, std::string_view>;
  static const auto table = [] {
    std::map<Key, const OpDef*> map;
    for (const OpDef* def : op_defs()) {
      for (const OpName& op : def->names) map[{def->domain, op.text}] = def;
    }
    return map;
  }();
  const auto found = table.find({domain == "ai.onnx" ? "" : domain, name});
  return found == table.end() ? nullptr : found->second;
}

Result<const OpDef*> definition_of(std::string_view domain, std::string_view name, int opset) {
  const OpDef* def = domain == kStepsDomain ? nullptr : find_op(domain, name);
  if (!def && domain.empty())
    return fail(ErrorCode::kUnsupported,
                "clvet does not support this operator; export the model without it");
  if (!def) {
    return fail(
        ErrorCode::kUnsupported,
        "clvet does not support this operator of the domain {}; export the model without it",
        domain);
  }
  const int since = since_of(*def, name);
  if (opset < since) {
    return fail(
        ErrorCode::kUnsupported,
        "the model has operator set {}, and clvet has {} from {} on; export the model again "
        "with opset_version={} or newer",
        opset, name, since, since);
  }
  if (opset > def->until) {
    return fail(ErrorCode::kUnsupported,
                "the model has operator set {}, and clvet has {} up to {}; export the model again "
                "with opset_version={} or older",
                opset, name, def->until, def->until);
  }
  return def;
}

int since_of(const OpDef& def, std::string_view name) {
  int since = def.since;
  for (const OpName& op : def.names) {
    if (op.text == name) since = std::max(since, op.since);
  }
  return since;
}

Status check_node(const OpDef& def, const Node& node) {
  const std::vector<InputSpec> specs = input_specs(def.inputs);
  const bool open = !specs.empty() && specs.back().repeated;
  if (!open && node.inputs.size() > specs.size()) {
    return fail(ErrorCode::kInvalidArgument, "{} takes at most {} inputs, not {}", node.op,
                specs.size(), node.inputs.size());
  }
  for (size_t i = 0; i < specs.size(); ++i) {
    const bool absent = i >= node.inputs.size() || node.inputs[i] == kNoValue;
    if (absent && !specs[i].optional) {
      return fail(ErrorCode::kInvalidArgument, "{} needs its input {}, which is missing", node.op,
                  i);
    }
  }
  const int outputs = static_cast<int>(node.outputs.size());
  if (outputs < def.min_outputs || outputs > def.max_outputs) {
    return fail(ErrorCode::kInvalidArgument, "{} cannot have {} outputs", node.op, outputs);
  }
  for (const auto& [key, attribute] : node.attributes) {
    CLVET_RETURN_IF_ERROR(check_attribute(def, node, key, attribute));
  }
  return {};
}

Status check_types(const OpDef& def, const OpCall& call) {
  const std::vector<InputSpec> specs = input_specs(def.inputs);
  std::optional<DType> common;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.has(i) || specs.empty()) continue;
    const InputSpec& spec = specs[std::min(i, specs.size() - 1)];
    const DType dtype = call.type(i).dtype;
    if (!type_fits(spec.type, dtype, def.types)) {
      return fail(ErrorCode::kUnsupported, "{} does not support the type {} for its input {}",
                  call.node.op, to_string(dtype), i);
    }
    if (spec.type != 'T') continue;
    if (common && *common != dtype) {
      return fail(ErrorCode::kInvalidArgument,
                  "{} has inputs of the types {} and {}, which must be the same", call.node.op,
                  to_string(*common), to_string(dtype));
    }
    common = dtype;
  }
  return {};
}

Result<std::vector<int64_t>> OpCall::integers(size_t i) const {
  if (!inputs[i].value) {
    return fail(ErrorCode::kUnavailable, "the value of input {} is not known yet", i);
  }
  return inputs[i].value->to_i64();
}

Lowering host_only(std::string reason) {
  Lowering lowering;
  lowering.reason = std::move(reason);
  return lowering;
}

bool wants_known(const OpDef& def, size_t input) {
  if (std::find(def.wants_known.begin(), def.wants_known.end(), input) != def.wants_known.end()) {
    return true;
  }
  const auto words = split(def.inputs, ' ');
  if (input >= words.size()) return false;
  // What comes first is data.
  if (words[input][0] == 'f') return input > 0;
  return words[input][0] != 'T' && words[input][0] != '*';
}

Lowering kernel_call(LoweredCall call) { return kernel_calls({std::move(call)}); }

Lowering kernel_calls(std::vector<LoweredCall> calls) {
  Lowering lowering;
  lowering.kind = LoweringKind::kKernel;
  lowering.calls = std::move(calls);
  return lowering;
}

Result<std::vector<TensorType>> infer_node(const OpCall& call) {
  const Node& node = call.node;
  if (!node.def)
    return fail(ErrorCode::kUnsupported, "clvet does not support the operator {}", node.op);
  CLVET_RETURN_IF_ERROR(check_types(*node.def, call));
  CLVET_ASSIGN_OR_RETURN(std::vector<TensorType> types, node.def->infer(call));
  if (types.size() < node.outputs.size()) {
    return fail(ErrorCode::kInvalidArgument, "{} has {} outputs, but the node names {}", node.op,
                types.size(), node.outputs.size());
  }
  for (const TensorType& type : types) {
    if (auto elements = checked_elements(type.shape); !elements) {
      return tl::unexpected<Error>(std::move(elements).error());
    }
  }
  return types;
}

Lowering no_kernel(const OpCall& call) {
  return host_only(fmt::format("no kernel computes {}", call.node.op));
}

namespace {

// Floats without elements: they lie on the device as well as anywhere.
bool is_nothing(const OpCall& call, const std::vector<TensorType>& types) {
  bool floats = false;
  for (size_t i = 0; i < call.node.outputs.size(); ++i) {
    if (call.node.outputs[i] == kNoValue) continue;
    if (elements_of(types[i].shape) > 0) return false;
    floats = floats || types[i].dtype == DType::kF32 || is_short_float(types[i].dtype);
  }
  return floats;
}

bool reads_nothing(const OpCall& call) {
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const bool counts = call.has(i) && static_cast<int>(i) != call.node.def->type_only;
    if (counts && !call.inputs[i].value && elements_of(call.shape(i)) == 0) return true;
  }
  return false;
}

}  // namespace

Lowering lower_node(const OpCall& call, View preferred) {
  const OpDef* def = call.node.def;
  if (!def) return host_only(fmt::format("clvet does not support the operator {}", call.node.op));
  const auto types = infer_node(call);
  if (types && is_nothing(call, *types)) {
    Lowering nothing;
    nothing.kind = LoweringKind::kNothing;
    return nothing;
  }
  if (!def->lower) return no_kernel(call);
  if (!def->lowers_empty && reads_nothing(call)) return host_only("a tensor has no elements");
  return types ? def->lower(call, preferred) : host_only(types.error().message);
}

bool has_kernel(const OpCall& call) {
  return lower_node(call, View::kChannelsFirst).kind != LoweringKind::kHost ||
         lower_node(call, View::kChannelsLast).kind != LoweringKind::kHost;
}

}  // namespace clvet
