// The words of options.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "kernels/combination.h"
#include "runtime/run/network_options.h"

namespace clvet::v1 {

// nullopt: "auto". kInvalidArgument names the words that there are.
::clvet::Result<std::optional<Precision>> precision_named(const std::string& name);
::clvet::Result<std::optional<Memory>> memory_named(const std::string& name);
::clvet::Result<Start> start_named(const std::string& name);

}  // namespace clvet::v1
