#include "probe/diagnose/packages.h"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "probe/data/embedded_json.h"

namespace clvet {
namespace {

using Commands = std::map<std::string, std::string>;

Result<Commands> read_commands() {
  CLVET_ASSIGN_OR_RETURN(const nlohmann::json parts, embedded_json("advice/packages.json"));
  Commands commands;
  for (const auto& [part, rows] : parts.items()) {
    std::string& text = commands[part];
    for (const auto& row : rows) {
      text += fmt::format("{}{}: '{}'", text.empty() ? "" : "; ", row.at(0).get<std::string>(),
                          row.at(1).get<std::string>());
    }
  }
  return commands;
}

const Result<Commands>& all_commands() {
  static const Result<Commands> commands = read_commands();
  return commands;
}

}  // namespace

Result<std::string> install_commands(const std::string& part) {
  CLVET_ASSIGN_OR_RETURN(const Commands commands, all_commands());
  const auto found = commands.find(part);
  if (found != commands.end()) return found->second;
  return fail(ErrorCode::kInternal, "no package is known for '{}'", part);
}

Result<std::string> with_commands(const std::string& text) {
  constexpr std::string_view kStart = "{install:";
  std::string out;
  size_t at = 0;
  for (size_t open = text.find(kStart); open != std::string::npos; open = text.find(kStart, at)) {
    const size_t name = open + kStart.size(), close = text.find('}', name);
    const auto commands = install_commands(text.substr(name, close - name));
    if (close == std::string::npos || !commands)
      return fail(ErrorCode::kInvalidArgument, "no package is known for '{}'",
                  text.substr(name, close - name));
    out += text.substr(at, open - at) + *commands;
    at = close + 1;
  }
  return out + text.substr(at);
}

}  // namespace clvet
