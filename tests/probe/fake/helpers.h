// Runs the real `clvet` over the hostile driver and reads what it says.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/combination.h"
#include "probe/report/report.h"
#include "tests/support.h"

namespace clvet::test {

// A scenario's path by its file name.
inline std::string scenario(const std::string& name) {
  return std::string(FAKE_SCENARIOS) + "/" + name;
}

using Variables = std::map<std::string, std::string>;

// Leaves a driver's segmentation fault to the kernel, also in a sanitizer build.
inline std::string sanitizer_options() {
  const char* given = ::getenv("ASAN_OPTIONS");
  return std::string(given ? given : "") + ":handle_segv=0:handle_sigbus=0";
}

struct Finished {
  int exit_code = -1;  // -1: it was ended by a signal or by `seconds`
  int signal = 0;
  double seconds = 0;
  std::string out, err;
};

// A clvet in a child process, in a session of its own.
class Process {
 public:
  Process(const std::vector<std::string>& arguments, const Variables& environment);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  pid_t pid() const { return pid_; }
  // Waits for its end; after `seconds` it is killed.
  Finished wait(double seconds = 300);

 private:
  const TempDir dir_;
  double started_ = 0;
  pid_t pid_ = 0;
};

// A folder of state, a scenario and a target: what one or more probes have in common.
class Bench {
 public:
  // `target`: "none" or the path of a real driver. `scenario`: a path or the JSON itself.
  explicit Bench(const std::string& target = "none", const std::string& scenario = "");
  Variables& environment() { return environment_; }
  // Starts another build of clvet from now on.
  void use(const std::string& program) { program_ = program; }
  std::string state() const { return dir_ / "state"; }
  std::string report_path() const { return dir_ / "report.json"; }
  std::string operator/(std::string_view name) const { return dir_ / name; }
  // Starts `clvet probe --library <fake> --out <report> ...`.
  std::vector<std::string> command(const std::vector<std::string>& more = {}) const;
  Finished probe(const std::vector<std::string>& more = {});
  Finished run(const std::vector<std::string>& arguments);
  // `clvet run` of the model "m.onnx" on the host.
  Finished run_model(const std::vector<std::string>& more);
  // The report that the last probe wrote; a test failure where it cannot be read.
  Report report() const;
  // What fake_cl logged: one line a firing.
  std::string log() const { return get(dir_ / "log"); }
  // The pids that the driver ran in.
  std::vector<pid_t> driver_pids() const;

 private:
  const TempDir dir_;
  std::string program_;
  Variables environment_;
};

// Case name -> "verdict" or "verdict stage".
std::map<std::string, std::string> words_of(const Report& report);

// As pocl_library().
std::optional<std::string> intel_library();

inline bool has_construct(const VerdictReport& row, std::string_view word) {
  if (word == "quantised") return row.weight_type && *row.weight_type != WeightType::kFloat;
  return std::find(row.constructs.begin(), row.constructs.end(), word) != row.constructs.end();
}

// True once `pid` is no more (a zombie counts as gone).
bool process_gone(pid_t pid, double seconds);

}  // namespace clvet::test
