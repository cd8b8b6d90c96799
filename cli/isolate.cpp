#include "cli/isolate.h"

#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/exit_code.h"
#include "probe/process/process.h"

extern char** environ;

namespace clvet {
namespace {

std::vector<std::string> own_arguments() {
  const auto text = read_file("/proc/self/cmdline", 1 << 22);
  std::vector<std::string> arguments;
  if (!text) return arguments;
  for (std::string& part : split(std::string_view(*text).substr(0, text->size() - 1), '\0')) {
    if (part != "--isolate") arguments.push_back(std::move(part));
  }
  return arguments;
}

// The wait status, or -1 where the child could not be started.
int run_child(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& text : arguments) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  pid_t pid = 0;
  if (::posix_spawn(&pid, own_executable().c_str(), nullptr, nullptr, pointers.data(), environ) !=
      0) {
    return -1;
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

int run_isolated(const EventSink& sink) {
  std::vector<std::string> arguments = own_arguments();
  int status = run_child(arguments);
  if (status != -1 && WIFSIGNALED(status)) {
    sink({EventLevel::kWarning,
          fmt::format("warning: the driver ended the process ({}); running again on the host",
                      ::strsignal(WTERMSIG(status)))});
    arguments.emplace_back("--device=host");
    status = run_child(arguments);
  }
  return status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : kExitOurFault;
}

}  // namespace clvet
