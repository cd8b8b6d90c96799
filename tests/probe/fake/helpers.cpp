#include "tests/probe/fake/helpers.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "probe/report/report.h"
#include "probe/report/report_json.h"
#include "tests/support.h"

extern char** environ;

namespace clvet::test {
namespace {

void pause_briefly() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

// execve with files for stdin, stdout and stderr; only async-signal-safe calls between fork and
// exec.
pid_t start(const std::vector<std::string>& arguments, const Variables& changes,
            const std::string& out, const std::string& err) {
  std::vector<std::string> rows;
  for (char** row = environ; *row; ++row) {
    const std::string text = *row;
    if (!changes.contains(text.substr(0, text.find('=')))) rows.push_back(text);
  }
  for (const auto& [name, value] : changes) rows.push_back(name + "=" + value);
  std::vector<char*> argv, envp;
  for (const std::string& text : arguments) argv.push_back(const_cast<char*>(text.c_str()));
  for (std::string& text : rows) envp.push_back(text.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::setsid();
  ::dup2(::open("/dev/null", O_RDONLY), 0);
  ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
  ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
  ::execve(argv[0], argv.data(), envp.data());
  ::_exit(127);
}

}  // namespace

Process::Process(const std::vector<std::string>& arguments, const Variables& environment) {
  started_ = monotonic_seconds();
  pid_ = start(arguments, environment, dir_ / "out", dir_ / "err");
}

Process::~Process() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

Finished Process::wait(double seconds) {
  Finished done;
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG) == 0) {
    if (monotonic_seconds() - started_ > seconds) {
      ADD_FAILURE() << "it did not end within " << seconds << " s";
      ::kill(pid_, SIGKILL);
    }
    pause_briefly();
  }
  pid_ = 0;
  done.seconds = monotonic_seconds() - started_;
  if (WIFEXITED(status)) done.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) done.signal = WTERMSIG(status);
  done.out = get(dir_ / "out");
  done.err = get(dir_ / "err");
  return done;
}

Bench::Bench(const std::string& target, const std::string& scenario) : program_(CLVET_PROGRAM) {
  environment_ = {{"FAKE_CL_TARGET", target},          {"FAKE_CL_LOG", dir_ / "log"},
                  {"FAKE_CL_STATE", dir_.path()},      {"CLVET_STATE_DIR", state()},
                  {"CLVET_CACHE_DIR", dir_ / "cache"}, {"OCL_ICD_VENDORS", dir_ / "no-icd"}};
  environment_["ASAN_OPTIONS"] = sanitizer_options();
  if (!scenario.empty()) environment_["FAKE_CL_SCENARIO"] = scenario;
}

std::vector<std::string> Bench::command(const std::vector<std::string>& more) const {
  std::vector<std::string> arguments{program_, "probe", "--library",
                                     FAKE_CL,  "--out", report_path()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

Finished Bench::probe(const std::vector<std::string>& more) {
  return Process(command(more), environment_).wait();
}

Finished Bench::run(const std::vector<std::string>& arguments) {
  std::vector<std::string> whole{program_};
  whole.insert(whole.end(), arguments.begin(), arguments.end());
  return Process(whole, environment_).wait();
}

Finished Bench::run_model(const std::vector<std::string>& more) {
  std::vector<std::string> words{"run", *this / "m.onnx", "--device", "host"};
  words.insert(words.end(), more.begin(), more.end());
  return run(words);
}

Report Bench::report() const {
  auto report = report_from_json(get(report_path()), report_path());
  EXPECT_TRUE(report) << report.error().message;
  return report.value_or(Report{});
}

std::vector<pid_t> Bench::driver_pids() const {
  std::set<pid_t> pids;
  for (const std::string& line : split(log(), '\n')) {
    if (line.starts_with("pid ")) pids.insert(std::atoi(line.c_str() + 4));
  }
  return {pids.begin(), pids.end()};
}

std::map<std::string, std::string> words_of(const Report& report) {
  std::map<std::string, std::string> words;
  for (const VerdictReport& row : report.verdicts) {
    words[row.id] = std::string(to_string(row.verdict)) + " in " + to_string(row.stage);
  }
  return words;
}

std::optional<std::string> intel_library() {
  const char* given = ::getenv("CLVET_TEST_INTEL");
  const char* home = ::getenv("HOME");
  for (const std::string& folder :
       {std::string(given ? given : ""), std::string(home ? home : "") + "/.cache/clvet/intel",
        std::string("/tmp/intel")}) {
    const std::string path = folder + "/lib/libintelocl.so";
    if (!folder.empty() && std::filesystem::exists(path)) return path;
  }
  return std::nullopt;
}

bool process_gone(pid_t pid, double seconds) {
  const double until = monotonic_seconds() + seconds;
  for (;;) {
    const std::string stat = get("/proc/" + std::to_string(pid) + "/stat");
    const auto close = stat.rfind(')');
    if (close == std::string::npos || stat.substr(close + 2, 1) == "Z") return true;
    if (monotonic_seconds() > until) return false;
    pause_briefly();
  }
}

}  // namespace clvet::test
