#include "cli/isolate.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/event.h"
#include "base/file.h"
#include "base/language.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/common_options.h"
#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "probe/process/process.h"
#include "probe/report/report.h"
#include "probe/worker/worker_limits.h"
#include "runtime/exec/flight.h"
#include "runtime/run/history.h"

namespace clvet {
namespace {

using Words = std::vector<std::string>;

// What a child has to say once its verb is done.
std::vector<std::function<void()>> held_back;
bool adopts_orphans = false;

// Children that die on a device before the host has its turn.
constexpr int kMostDeaths = 4;

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

struct Ended {
  FlightSnapshot flight;
  ExitState state;
  bool hung = false;
  // Its own word: what a driver does to the exit status says nothing.
  bool finished() const { return flight.finished && !hung; }
};

class Child {
 public:
  explicit Child(double hang_after_s) : hang_after_s_(hang_after_s) {}

  Result<Ended> run(const Words& words) {
    CLVET_ASSIGN_OR_RETURN(FlightView view, FlightView::create());
    view.set_said(said_);
    CLVET_ASSIGN_OR_RETURN(
        const pid_t pid,
        spawn({own_executable(), words, {{Flight::kVariable, "3"}}, -1, {view.fd()}}));
    Ended ended = wait_for(pid, view);
    ended.flight = view.read();
    said_ = view.said();
    return ended;
  }

 private:
  // `moved`: when the driver was last seen to take another call.
  bool hangs(const FlightSnapshot& now, double moved) const {
    const double limit = hang_after_s_ + 10 * now.longest_s;
    const double call_s = now.inside ? monotonic_seconds() - moved : 0;
    return call_s > limit || now.inference_s > limit;
  }

  // An interrupt is handed on, and the child ends as it sees fit.
  Ended wait_for(pid_t pid, const FlightView& view) const {
    constexpr unsigned kPause = 5000;  // microseconds
    Ended ended;
    bool told = false;
    uint64_t calls = 0;
    double moved = monotonic_seconds();
    for (;;) {
      if (const auto state = reap(pid)) {
        ended.state = *state;
        return ended;
      }
      if (interrupt_requested && !std::exchange(told, true)) ::kill(pid, SIGTERM);
      const FlightSnapshot now = view.read();
      if (std::exchange(calls, now.calls) != now.calls) moved = monotonic_seconds();
      if (!ended.hung && (now.finished ? lingers(now) : hangs(now, moved))) {
        ended.hung = !now.finished;
        for (const pid_t one : descendants(pid)) ::kill(one, SIGKILL);
      }
      ::usleep(kPause);
    }
  }
  // It is done, but a driver keeps it from its end.
  bool lingers(const FlightSnapshot& now) const { return now.finished_s > kLingering; }
  static constexpr double kLingering = 2;  // seconds

  double hang_after_s_;
  SaidText said_;
};

std::string why_of(const Ended& ended) {
  if (ended.hung) return "the driver does not return";
  if (ended.state.signal)
    return fmt::format("the driver ended the process ({})", ::strsignal(ended.state.signal));
  return fmt::format("the driver ended the process with exit status {}", ended.state.exit_status);
}

std::string with_place(const std::string& why, const FlightSnapshot& flight) {
  return flight.variant_is_known() ? fmt::format("{} in kernel {}", why, flight.variant) : why;
}

// Kept, so that the next child does without. False: nothing tells what to do without.
bool remember(const Ended& ended, const std::string& why) {
  FlightSnapshot flight = ended.flight;
  flight.inside = flight.inside || ended.hung;
  const Verdict verdict = ended.hung ? Verdict::kHang : Verdict::kCrash;
  return History(state_dir()).learn_from(flight, verdict, why);
}

// Counts the children that died. One warning tells of all of them, once there is an answer.
class Deaths {
 public:
  explicit Deaths(const EventSink& sink) : sink_(sink) {}

  void add(const Ended& ended) {
    const std::string why = with_place(why_of(ended), ended.flight);
    if (++count_ == 1) first_ = why;
    on_device_ = remember(ended, why_of(ended)) && count_ < kMostDeaths;
    sink_({EventLevel::kInfo, fmt::format("{}; running again", why)});
  }
  bool on_device() const { return on_device_; }

  void tell() const {
    if (count_ == 0) return;
    const std::string why =
        count_ == 1 ? first_ : fmt::format("{}; the first of {} failures", first_, count_);
    sink_({EventLevel::kWarning,
           on_device_ ? fmt::format("warning: {}; the command was run again without that", why)
                      : fmt::format("warning: {}; the command was run again on the host", why)});
  }

 private:
  const EventSink& sink_;
  std::string first_;
  int count_ = 0;
  bool on_device_ = true;
};

}  // namespace

EventSink verb_sink(bool quiet) {
  EventSink terminal = terminal_sink(quiet);
  if (!is_isolated()) return terminal;
  return [terminal](const Event& event) {
    if (event.level == EventLevel::kError || event.level == EventLevel::kProgress)
      return terminal(event);
    held_back.push_back([terminal, event] { terminal(event); });
  };
}

void adopt_orphans() {
  become_subreaper();
  adopts_orphans = true;
}

void finish_verb(int exit_code) {
  for (const auto& tell : held_back) tell();
  if (adopts_orphans) sweep_orphans({});
  finish_flight(exit_code);
}

bool wants_isolation(const Report& report) { return !is_isolated() && History::saw_death(report); }

int run_isolated(const GuardOptions& guard, bool strict, const EventSink& sink) {
  const Words words = without(own_arguments(), "--isolate", false);
  Child child(guard.hang_after_s);
  Deaths deaths(sink);
  for (;;) {
    const auto ended = child.run(deaths.on_device() ? words : on_host(words));
    if (!ended) return report_error(ended.error());
    if (interrupt_requested) return kExitInterrupted;
    if (ended->finished() || !deaths.on_device()) {
      deaths.tell();
      return ended->finished() ? ended->flight.exit_code : kExitOurFault;
    }
    if (strict) {
      print_error(translated(fmt::format("--strict: {}", why_of(*ended))));
      return kExitFindings;
    }
    deaths.add(*ended);
  }
}

}  // namespace clvet
