#include "cli/model_file.h"

#include <string>

#include "base/language.h"
#include "base/text.h"
#include "probe/diagnose/fix_script.h"
#include "runtime/run/model_file.h"

namespace clvet {

std::string fault_of_network(const std::string& path) {
  if (!is_gguf(path)) return {};
  const std::string name = one_line(path);
  return tr(
      "{} is a language model (GGUF), which another verb runs: clvet generate {} --prompt "
      "TEXT",
      name, shell_word(name));
}

std::string fault_of_language_model(const std::string& path) {
  if (kind_of_model(path) != ModelKind::kOnnx) return {};
  const std::string name = one_line(path);
  return tr("{} is an ONNX network, which another verb runs: clvet run {} --input NAME=FILE", name,
            shell_word(name));
}

}  // namespace clvet
