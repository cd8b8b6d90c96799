#include "cli/isolate.h"

#include <signal.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/file.h"
#include "base/language.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "probe/process/process.h"
#include "probe/worker/worker_limits.h"

namespace clvet {
namespace {

using Words = std::vector<std::string>;

Words own_arguments() {
  const auto text = read_file("/proc/self/cmdline", 1 << 22);
  if (!text || text->empty()) return {};
  return split(std::string_view(*text).substr(0, text->size() - 1), '\0');
}

// Without `option` and its value, which may be joined to it by '='.
Words without(const Words& words, const std::string& option, bool has_value) {
  Words kept;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == option) {
      i += has_value;
    } else if (!words[i].starts_with(option + "=")) {
      kept.push_back(words[i]);
    }
  }
  return kept;
}

Words on_host(const Words& words) {
  Words changed = without(without(words, "--device", true), "--plan", true);
  changed.emplace_back("--device=host");
  return changed;
}

// An interrupt is handed on, and the child ends as it sees fit.
ExitState wait_for(pid_t pid) {
  constexpr unsigned kPause = 5000;  // microseconds
  bool told = false;
  for (;;) {
    if (const auto ended = reap(pid)) return *ended;
    if (interrupt_requested && !std::exchange(told, true)) ::kill(pid, SIGTERM);
    ::usleep(kPause);
  }
}

Result<ExitState> run_child(const Words& words) {
  CLVET_ASSIGN_OR_RETURN(const pid_t pid, spawn({own_executable(), words, {}, -1, {}}));
  return wait_for(pid);
}

}  // namespace

int run_isolated(const EventSink& sink) {
  const Words words = without(own_arguments(), "--isolate", false);
  auto ended = run_child(words);
  if (!ended) return report_error(ended.error());
  if (!ended->signal) return ended->exit_status;
  if (interrupt_requested) return kExitInterrupted;
  const std::string why =
      fmt::format("the driver ended the process ({})", ::strsignal(ended->signal));
  if (std::find(words.begin(), words.end(), "--strict") != words.end()) {
    print_error(translated(fmt::format("--strict: {}", why)));
    return kExitFindings;
  }
  sink({EventLevel::kWarning, fmt::format("warning: {}; running again on the host", why)});
  ended = run_child(on_host(words));
  if (!ended) return report_error(ended.error());
  return ended->signal ? kExitOurFault : ended->exit_status;
}

}  // namespace clvet
