// A model's file as a verb is given it.
#pragma once

#include <string>

#include "base/result.h"

namespace clvet {

// By its name, else by its first bytes.
bool is_gguf(const std::string& path);
// kInvalidArgument: a device or a pipe, from which reading might never end.
Status check_model_file(const std::string& path);

}  // namespace clvet
