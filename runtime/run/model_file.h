// What kind of model a file holds.
#pragma once

#include <string>

#include "base/result.h"

namespace clvet {

enum class ModelKind { kUnknown, kOnnx, kGguf };

// By its first bytes, else by its name; a file that does not exist, too, is what its name says.
ModelKind kind_of_model(const std::string& path);
bool is_gguf(const std::string& path);
// kInvalidArgument: a device or a pipe, from which reading might never end.
Status check_model_file(const std::string& path);

}  // namespace clvet
