#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "kernels/act_table.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/item_function.h"
#include "kernels/layout.h"

namespace clvet {
namespace {

int weight_bits(const Variant& variant) {
  switch (variant.weight_type.value_or(WeightType::kFloat)) {
    case WeightType::kInt8:
      return 8;
    case WeightType::kInt4:
    case WeightType::kQ4_0:
      return 4;
    default:
      return 0;
  }
}

bool holds_buffer_tensor(const Variant& variant) {
  for (const ArgSpec& arg : variant.manifest->args) {
    const bool tensor = arg.kind == ArgKind::kInput || arg.kind == ArgKind::kOutput;
    if (tensor && arg.storage.value_or(variant.activations) == Storage::kBuffer) return true;
  }
  return false;
}

// Whether a buffer holds values in the storage type: all else is in images, whose texels are read
// as float, so that `normal` and `high` are one program.
bool holds_values_in_buffer(const Variant& variant) {
  const bool weights =
      variant.weights && (weight_bits(variant) != 0 || *variant.weights == Storage::kBuffer);
  return weights || holds_buffer_tensor(variant);
}

std::string options_of(const Variant& variant) {
  const Manifest& manifest = *variant.manifest;
  std::string options = "-cl-std=CL1.2 -cl-mad-enable";
  const auto define = [&](const std::string& name, int64_t value) {
    options += " -D" + name + "=" + std::to_string(value);
  };
  define("STORE_HALF",
         variant.precision == Precision::kLow ||
             (variant.precision == Precision::kNormal && holds_values_in_buffer(variant)));
  define("ARITH_HALF", variant.precision == Precision::kLow);
  define("ACT_IMAGE", variant.activations == Storage::kImage);
  if (variant.weights) {
    define("W_IMAGE", *variant.weights == Storage::kImage);
    define("W_BITS", weight_bits(variant));
    if (variant.weight_type == WeightType::kQ4_0) define("W_CENTRE", kQ4_0Centre);
    define("PACK", manifest.pack);
  }
  for (const auto& [name, value] : manifest.params) define(name, value);
  return options;
}

// What follows from precision and storage through kernels/common; manifests add the rest. A kernel
// without preludes brings every one of its own.
std::vector<std::string> constructs_of(const Variant& variant) {
  std::set<std::string> words(variant.manifest->constructs.begin(),
                              variant.manifest->constructs.end());
  if (variant.manifest->preludes.empty()) return {words.begin(), words.end()};
  const bool quantised = weight_bits(variant) != 0;
  const bool image_weights = variant.weights == Storage::kImage;
  if (variant.activations == Storage::kImage || (image_weights && !quantised)) {
    words.insert(stores_half(variant.precision) ? "image_half" : "image_float");
  }
  if (image_weights && quantised) words.insert("image_uint16_weights");
  const bool half_scales = variant.weight_type == WeightType::kQ4_0;
  if (half_scales || (variant.precision == Precision::kNormal && holds_values_in_buffer(variant))) {
    words.insert("vload_half");
  }
  if (variant.precision == Precision::kLow) {
    words.insert("half_type");
    words.insert("half_arith");
    if (quantised) words.insert("int_to_half");
  }
  return {words.begin(), words.end()};
}

// A text as drivers get it, and its SHA-256. The catalog has a thousand variants of some hundred
// texts: each is put together and hashed once.
struct Text {
  Source source;
  std::string digest;
};

Result<Text> made_text(const std::string& path) {
  CLVET_ASSIGN_OR_RETURN(std::string text, kernel_text(path));
  text = with_activations(std::move(text));
  if (path.starts_with("ops/")) text = with_item_function("#line 1\n" + text);
  std::string digest = sha256_hex(text);
  return Text{std::make_shared<const std::string>(std::move(text)), std::move(digest)};
}

Result<Text> text_of(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, Text> made;
  const std::lock_guard lock(mutex);
  auto found = made.find(path);
  if (found == made.end()) {
    CLVET_ASSIGN_OR_RETURN(Text text, made_text(path));
    found = made.emplace(path, std::move(text)).first;
  }
  return found->second;
}

// What tells programs apart that a driver is given.
class Assembly {
 public:
  Status add(const std::string& path) {
    CLVET_ASSIGN_OR_RETURN(Text text, text_of(path));
    program.sources.push_back(std::move(text.source));
    hash_.add_field(text.digest);
    return {};
  }
  // Once options and entry are there.
  Program finished() {
    program.key = hash_.add_field(program.options).add_field(program.entry).hex();
    return std::move(program);
  }

  Program program;

 private:
  Sha256 hash_;
};

}  // namespace

Result<Program> check_program(std::string_view text, std::string_view entry) {
  Assembly assembly;
  CLVET_RETURN_IF_ERROR(assembly.add(fmt::format("checks/{}.cl", text)));
  assembly.program.entry = entry;
  return assembly.finished();
}

Result<Program> program_of(const Variant& variant) {
  const Manifest& manifest = *variant.manifest;
  Assembly assembly;
  std::vector<std::string> paths;
  for (const std::string& prelude : manifest.preludes) paths.push_back("common/" + prelude);
  paths.push_back(fmt::format("ops/{}/{}.cl", manifest.family, manifest.text));
  for (const std::string& path : paths) {
    const Status added = assembly.add(path);
    if (!added) return fail(ErrorCode::kInternal, "{}: {}", manifest.id, added.error().message);
  }
  assembly.program.options = options_of(variant);
  assembly.program.entry = manifest.text;
  assembly.program.constructs = constructs_of(variant);
  Program program = assembly.finished();
  program.variant_key = Sha256().add_field(program.key).add_field(variant.name()).hex();
  return program;
}

}  // namespace clvet
