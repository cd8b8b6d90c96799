#include "tests/conformance/supervise.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <ios>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/json.h"  // IWYU pragma: keep
#include "base/result.h"
#include "base/text.h"
#include "probe/process/process.h"
#include "tests/conformance/results.h"
#include "tests/conformance/run_case.h"
#include "tests/conformance/suite.h"

namespace clvet::conformance {
namespace {

size_t count_results(const std::string& folder) {
  const auto text = read_file(folder + "/results");
  return text ? static_cast<size_t>(std::count(text->begin(), text->end(), '\n')) : 0;
}

struct End {
  ExitState state;
  bool stopped = false;  // for its time
};

// Waits for the child; stops it where `limit` seconds bring no result.
End watch(pid_t pid, const Supervision& supervision, size_t before, size_t total) {
  double last_change = monotonic_seconds();
  size_t seen = count_results(supervision.folder);
  bool stopped = false;
  for (;;) {
    if (const auto state = reap(pid)) return {*state, stopped};
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const size_t now = count_results(supervision.folder);
    if (now != seen) {
      seen = now;
      last_change = monotonic_seconds();
      if (supervision.progress) supervision.progress(before + now, total);
    }
    if (!stopped && monotonic_seconds() - last_change > supervision.limit_seconds) {
      ::kill(pid, SIGKILL);
      stopped = true;
    }
  }
}

std::string describe(const End& end, double limit) {
  if (end.stopped) return fmt::format("no result within {} s", limit);
  if (end.state.signal) return ::strsignal(end.state.signal);
  return fmt::format("the process ended with {}", end.state.exit_status);
}

CaseResult crash(const Case& test, const std::string& detail) {
  CaseResult result{test.name, kCrash, detail, {}};
  for (const std::string& op : test.operators) result.blames.push_back({op, detail});
  return result;
}

// One child from `first` on; its results and how it ended.
Result<End> run_child(const std::vector<Case>& cases, size_t first, const Supervision& supervision,
                      std::vector<CaseResult>& results) {
  std::string list;
  for (size_t i = first; i < cases.size(); ++i) list += cases[i].name + "\n";
  CLVET_RETURN_IF_ERROR(write_file_atomically(supervision.folder + "/cases", list));
  CLVET_RETURN_IF_ERROR(write_file_atomically(supervision.folder + "/results", ""));
  const std::string log = supervision.folder + "/log";
  UniqueFd out(::open(log.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600));
  SpawnRequest request;
  request.program = own_executable();
  request.args = supervision.arguments;
  request.out = out.get();
  CLVET_ASSIGN_OR_RETURN(const pid_t pid, spawn(request));
  const End end = watch(pid, supervision, first, cases.size());
  for (CaseResult& row : read_results(supervision.folder + "/results")) {
    results.push_back(std::move(row));
  }
  if (results.size() == first && end.state.exit_status == kRefused) {
    const auto said = read_file(log);
    return fail(ErrorCode::kInternal, "the worker refused: {}", said ? *said : "");
  }
  return end;
}

}  // namespace

Result<std::vector<CaseResult>> run_supervised(const std::vector<Case>& cases,
                                               const Supervision& supervision) {
  CLVET_RETURN_IF_ERROR(make_folders(supervision.folder));
  std::vector<CaseResult> results;
  while (results.size() < cases.size()) {
    CLVET_ASSIGN_OR_RETURN(const End end, run_child(cases, results.size(), supervision, results));
    if (results.size() < cases.size()) {
      results.push_back(crash(cases[results.size()], describe(end, supervision.limit_seconds)));
    }
  }
  return results;
}

int run_worker(const std::vector<Case>& cases, const RunSettings& settings,
               const std::string& folder) {
  const auto list = read_file(folder + "/cases");
  if (!list) return kRefused;
  std::ofstream out(folder + "/results", std::ios::app);
  for (const std::string& name : split(*list, '\n')) {
    const auto found =
        std::find_if(cases.begin(), cases.end(), [&](const Case& row) { return row.name == name; });
    if (found == cases.end()) continue;
    out << to_json(run_case(*found, settings)).dump() << std::endl;
    if (!out) return kRefused;
  }
  return 0;
}

}  // namespace clvet::conformance
