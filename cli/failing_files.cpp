#include "cli/failing_files.h"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "probe/diagnose/fix_script.h"
#include "runtime/graph/tensor.h"
#include "runtime/media/npy.h"
#include "runtime/media/output_names.h"
#include "runtime/onnx/writer.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/failing_part.h"
#include "runtime/precision/number_format.h"

namespace clvet {
namespace {

constexpr const char* kModel = "/failing.onnx";

Result<std::vector<SavedValue>> save(const std::map<std::string, Tensor>& values,
                                     const std::string& folder) {
  CLVET_RETURN_IF_ERROR(make_folders(folder));
  std::vector<std::string> names;
  for (const auto& [name, tensor] : values) names.push_back(name);
  const std::vector<std::string> files = npy_names(names);
  std::vector<SavedValue> saved;
  for (size_t i = 0; i < names.size(); ++i) {
    saved.push_back({names[i], folder + "/" + files[i]});
    CLVET_RETURN_IF_ERROR(write_npy(saved.back().file, values.at(names[i])));
  }
  return saved;
}

std::string command_of(const FailingFiles& files, Policy policy, NumberFormat format) {
  std::vector<std::string> words = {"clvet", "diagnose", shell_word(files.model)};
  const auto add = [&](const char* option, const std::string& value) {
    words.emplace_back(option);
    words.push_back(shell_word(value));
  };
  for (const SavedValue& input : files.inputs) add("--input", input.name + "=" + input.file);
  if (policy == Policy::kNaive) add("--policy", to_string(policy));
  if (format == NumberFormat::kBfloat) add("--precision", "bf16");
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

Status check_failing_folder(const std::string& folder) {
  CLVET_RETURN_IF_ERROR(make_folders(folder));
  return check_writable(folder + kModel);
}

Result<FailingFiles> save_failing(const FailingPart& part, Policy policy, NumberFormat format,
                                  const std::string& folder) {
  FailingFiles files;
  files.model = folder + kModel;
  files.nodes = static_cast<int>(part.graph.nodes.size());
  CLVET_ASSIGN_OR_RETURN(const std::string bytes, format_onnx(part.graph));
  CLVET_RETURN_IF_ERROR(write_file_atomically(files.model, bytes));
  CLVET_ASSIGN_OR_RETURN(files.inputs, save(part.inputs, folder + "/inputs"));
  CLVET_ASSIGN_OR_RETURN(files.outputs, save(part.outputs, folder + "/outputs"));
  files.command = command_of(files, policy, format);
  return files;
}

}  // namespace clvet
