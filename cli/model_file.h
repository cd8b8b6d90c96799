// A model's file as a verb is given it.
#pragma once

#include <string>

#include "base/result.h"

namespace clvet {

enum class ModelKind { kUnknown, kOnnx, kGguf };

// By its first bytes, else by its name; a file that does not exist, too, is what its name says.
ModelKind kind_of_model(const std::string& path);
bool is_gguf(const std::string& path);
// What to say, in the user's language, of a model that is the other verb's; empty where it is none.
std::string fault_of_network(const std::string& path);         // `clvet run`
std::string fault_of_language_model(const std::string& path);  // `clvet generate`
// kInvalidArgument: a device or a pipe, from which reading might never end.
Status check_model_file(const std::string& path);

}  // namespace clvet
