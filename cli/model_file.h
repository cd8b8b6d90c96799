// What a verb says of a model's file.
#pragma once

#include <string>

namespace clvet {

// What to say, in the user's language, of a model that is the other verb's; empty where it is none.
std::string fault_of_network(const std::string& path);         // `clvet run`
std::string fault_of_language_model(const std::string& path);  // `clvet generate`

}  // namespace clvet
