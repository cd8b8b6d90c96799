#include "kernels/call.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/expr.h"

namespace clvet {
namespace {

constexpr int64_t kMaxInt = 0x7fffffff;

Result<int64_t> evaluate_for(const Manifest& manifest, const Dims& dims, const std::string& text) {
  return evaluate_expr(text, [&](std::string_view name) -> std::optional<int64_t> {
    if (const auto dim = dims.find(name); dim != dims.end()) return dim->second;
    const auto param = manifest.params.find(std::string(name));
    if (param != manifest.params.end()) return param->second;
    return std::nullopt;
  });
}

class CallBuilder {
 public:
  CallBuilder(const Variant& variant, const Dims& dims, const Scalars& scalars)
      : variant_(variant), manifest_(*variant.manifest), dims_(dims), scalars_(scalars) {}

  Result<KernelCall> build() {
    CLVET_RETURN_IF_ERROR(check_where(manifest_, dims_));
    for (const ArgSpec& spec : manifest_.args) CLVET_RETURN_IF_ERROR(add_arg(spec));
    CLVET_RETURN_IF_ERROR(add_sizes());
    return std::move(call_);
  }

 private:
  Result<int64_t> evaluate(const std::string& text) const {
    return evaluate_for(manifest_, dims_, text);
  }

  Status add_arg(const ArgSpec& spec) {
    CallArg arg;
    arg.kind = spec.kind;
    arg.name = spec.name;
    switch (spec.kind) {
      case ArgKind::kInput:
      case ArgKind::kOutput:
        arg.storage = spec.storage.value_or(variant_.activations);
        break;
      case ArgKind::kWeights:
        arg.storage = variant_.weights.value_or(Storage::kBuffer);
        break;
      case ArgKind::kScales:
        if (variant_.weight_type.value_or(WeightType::kFloat) == WeightType::kFloat) return {};
        break;
      case ArgKind::kVector:
      case ArgKind::kIndices:
      case ArgKind::kState:
        break;
      case ArgKind::kInt: {
        auto value = evaluate(spec.name);
        if (!value) return wrap(value.error(), manifest_.id + " args");
        if (*value > kMaxInt || *value < -kMaxInt) {
          return fail(ErrorCode::kInvalidArgument, "{}: {} = {} does not fit in 32 bits",
                      manifest_.id, spec.name, *value);
        }
        arg.int_value = static_cast<int32_t>(*value);
        break;
      }
      case ArgKind::kFloat: {
        const auto scalar = scalars_.find(spec.name);
        if (scalar == scalars_.end()) {
          return fail(ErrorCode::kInvalidArgument, "{}: field 'args' has the unknown scalar '{}'",
                      manifest_.id, spec.name);
        }
        arg.float_value = static_cast<float>(scalar->second);
        break;
      }
    }
    if (!spec.where.empty() && arg.storage == Storage::kBuffer) {
      const auto read = evaluate(spec.where);
      if (!read) return wrap(read.error(), manifest_.id + " args");
      arg.absent = *read == 0;
    }
    call_.args.push_back(std::move(arg));
    return {};
  }

  Status add_sizes() {
    call_.work_dim = static_cast<int>(manifest_.global.size());
    for (size_t i = 0; i < manifest_.global.size(); ++i) {
      auto global = evaluate(manifest_.global[i]);
      if (!global) return wrap(global.error(), manifest_.id + " global");
      int64_t local = 0;
      if (!manifest_.local.empty()) {
        auto value = evaluate(manifest_.local[i]);
        if (!value) return wrap(value.error(), manifest_.id + " local");
        local = *value;
      }
      if (*global < 1 || local < 0) {
        return fail(ErrorCode::kInvalidArgument,
                    "{}: the global size {} or the local size {} of dimension {} is too small",
                    manifest_.id, *global, local, i);
      }
      const int64_t rounded = local > 0 ? (*global + local - 1) / local * local : *global;
      call_.global[i] = static_cast<size_t>(rounded);
      call_.local[i] = static_cast<size_t>(local);
    }
    if (!manifest_.local.empty()) {
      for (size_t i = manifest_.global.size(); i < 3; ++i) call_.local[i] = 1;
    }
    return {};
  }

  const Variant& variant_;
  const Manifest& manifest_;
  const Dims& dims_;
  const Scalars& scalars_;
  KernelCall call_;
};

}  // namespace

const TensorRole* role_of(std::span<const TensorRole> roles, const CallArg& arg) {
  for (const TensorRole& role : roles) {
    if (role.name == arg.name) return &role;
  }
  return nullptr;
}

Status check_where(const Manifest& manifest, const Dims& dims) {
  for (const std::string& condition : manifest.where) {
    auto value = evaluate_for(manifest, dims, condition);
    if (!value) return wrap(value.error(), manifest.id + " where");
    if (*value == 0) {
      return fail(ErrorCode::kUnsupported, "the kernel {} needs {}", manifest.id, condition);
    }
  }
  return {};
}

Result<KernelCall> make_call(const Variant& variant, const Dims& dims, const Scalars& scalars) {
  return CallBuilder(variant, dims, scalars).build();
}

}  // namespace clvet
