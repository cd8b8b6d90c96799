#include "runtime/plan/subject.h"

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include <fmt/ranges.h>

#include "base/hash.h"
#include "base/result.h"
#include "kernels/catalog.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/plan.h"

namespace clvet {
namespace {

std::string hash_of(const Tensor& tensor) {
  const size_t bytes = static_cast<size_t>(tensor.elements()) * size_of(tensor.dtype());
  Sha256 hash;
  hash.add_field(to_string(tensor.type())).add(std::span(tensor.raw(), bytes));
  return hash.hex();
}

std::string inputs_text(const PlanSubject& subject) {
  std::string text;
  for (const auto& [name, shape] : subject.inputs) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, to_string(shape));
  }
  return text;
}

Status check_given(const PlanSubject& planned, const PlanSubject& here) {
  for (const auto& [name, hash] : here.given) {
    const auto found = planned.given.find(name);
    if (found != planned.given.end() && found->second == hash) continue;
    return fail(ErrorCode::kInvalidArgument,
                "the plan depends on the value of input '{}', which is different now; make a new "
                "plan with 'clvet plan'",
                name);
  }
  if (planned.given.size() == here.given.size()) return {};
  return fail(ErrorCode::kInvalidArgument,
              "the plan is for other inputs; make a new plan with 'clvet plan'");
}

}  // namespace

PlanSubject network_subject(const Graph& graph, const std::string& model) {
  PlanSubject subject;
  subject.format = "onnx";
  subject.model = model;
  subject.kernel_set = kernel_set();
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.values[static_cast<size_t>(id)];
    if (value.shape) subject.inputs[value.name] = *value.shape;
  }
  for (const auto& [name, tensor] : graph.given) {
    subject.inputs[name] = tensor.shape();
    subject.given[name] = hash_of(tensor);
  }
  return subject;
}

PlanSubject language_subject(const std::string& model) {
  PlanSubject subject;
  subject.format = "gguf";
  subject.model = model;
  subject.kernel_set = kernel_set();
  return subject;
}

void set_device(const DeviceReport* device, PlanSubject& subject) {
  subject.device = device ? device->name : "";
  subject.environment_key = device ? device->environment_key : "";
}

Status check_subject(const PlanSubject& planned, const PlanSubject& here) {
  if (planned.format != here.format) {
    return fail(ErrorCode::kInvalidArgument,
                "the plan is for a model in the format {}, but this model is in {}", planned.format,
                here.format);
  }
  if (planned.kernel_set != here.kernel_set) {
    return fail(ErrorCode::kInvalidArgument,
                "the plan was made with other kernels than this program has; make a new plan with "
                "'clvet plan'");
  }
  if (planned.model != here.model) {
    return fail(ErrorCode::kInvalidArgument,
                "the plan is for another model (SHA-256 {:.12}..., but this model's is {:.12}...); "
                "make a new plan with 'clvet plan'",
                planned.model, here.model);
  }
  if (planned.inputs != here.inputs) {
    return fail(ErrorCode::kInvalidArgument,
                "the plan is for inputs {}, but these are {}; make a new plan with 'clvet plan'",
                inputs_text(planned), inputs_text(here));
  }
  return check_given(planned, here);
}

}  // namespace clvet
