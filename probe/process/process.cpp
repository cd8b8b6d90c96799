#include "probe/process/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"

extern char** environ;

namespace clvet {
namespace {

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> rows;
  for (char** row = environ; *row; ++row) {
    const std::string_view text(*row);
    if (!changes.contains(std::string(text.substr(0, text.find('='))))) rows.emplace_back(text);
  }
  for (const auto& [name, value] : changes) rows.push_back(name + "=" + value);
  return rows;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

struct FileActions {
  posix_spawn_file_actions_t value;
  FileActions() { posix_spawn_file_actions_init(&value); }
  ~FileActions() { posix_spawn_file_actions_destroy(&value); }
  void add_dup(int from, int to) { posix_spawn_file_actions_adddup2(&value, from, to); }

  // Nothing on stdin, `out` on stdout and stderr (-1: all three stay), `inherit` behind them. They
  // are parked above their places first, so that none overwrites another.
  void place(const std::vector<int>& inherit, int out) {
    constexpr int kFirst = 3, kParking = 500;
    std::vector<std::pair<int, int>> moves;  // from, to
    if (out >= 0) {
      posix_spawn_file_actions_addopen(&value, 0, "/dev/null", O_RDONLY, 0);
      moves = {{out, 1}, {out, 2}};
    }
    for (size_t i = 0; i < inherit.size(); ++i)
      moves.emplace_back(inherit[i], kFirst + static_cast<int>(i));
    const int count = static_cast<int>(moves.size());
    for (int i = 0; i < count; ++i) add_dup(moves[static_cast<size_t>(i)].first, kParking + i);
    for (int i = 0; i < count; ++i) add_dup(kParking + i, moves[static_cast<size_t>(i)].second);
    for (int i = 0; i < count; ++i) posix_spawn_file_actions_addclose(&value, kParking + i);
  }
};

// A process group of its own, no signal blocked, and those that we handle as they are by default.
struct SpawnAttributes {
  posix_spawnattr_t value;
  SpawnAttributes() {
    posix_spawnattr_init(&value);
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD}) sigaddset(&defaults, number);
    posix_spawnattr_setsigmask(&value, &none);
    posix_spawnattr_setsigdefault(&value, &defaults);
    posix_spawnattr_setpgroup(&value, 0);
    posix_spawnattr_setflags(
        &value, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnAttributes() { posix_spawnattr_destroy(&value); }
};

struct ProcessStat {
  pid_t pid = 0, parent = 0;
  char state = '?';
  double cpu_seconds = 0;
  uint64_t faults = 0;
};

// /proc/<pid>/stat; the name field may hold blanks and parentheses, so the last ')' ends it.
std::optional<ProcessStat> read_stat(pid_t pid) {
  const auto text = read_file(fmt::format("/proc/{}/stat", pid), 4096);
  if (!text) return std::nullopt;
  const auto close = text->rfind(')');
  if (close == std::string::npos || close + 2 >= text->size()) return std::nullopt;
  const auto fields = split(std::string_view(*text).substr(close + 2), ' ');
  if (fields.size() < 14) return std::nullopt;
  ProcessStat stat;
  stat.pid = pid;
  stat.state = fields[0].empty() ? '?' : fields[0][0];
  stat.parent = std::atoi(fields[1].c_str());
  stat.faults =
      std::strtoull(fields[7].c_str(), nullptr, 10) + std::strtoull(fields[9].c_str(), nullptr, 10);
  const double ticks = std::atof(fields[11].c_str()) + std::atof(fields[12].c_str());
  stat.cpu_seconds = ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return stat;
}

std::vector<ProcessStat> all_processes() {
  std::vector<ProcessStat> out;
  DIR* folder = ::opendir("/proc");
  if (!folder) return out;
  while (const dirent* entry = ::readdir(folder)) {
    const int pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    if (const auto stat = read_stat(pid)) out.push_back(*stat);
  }
  ::closedir(folder);
  return out;
}

}  // namespace

Result<pid_t> spawn(const SpawnRequest& request) {
  std::vector<std::string> args = request.args;
  std::vector<std::string> environment = merged_environment(request.environment);
  FileActions actions;
  actions.place(request.inherit, request.out);
  const SpawnAttributes attributes;
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, request.program.c_str(), &actions.value, &attributes.value,
                                  pointers(args).data(), pointers(environment).data());
  if (error != 0) {
    return fail(ErrorCode::kInternal, "cannot start {}: {}", request.program, std::strerror(error));
  }
  return pid;
}

std::optional<ExitState> reap(pid_t pid) {
  int status = 0;
  const pid_t got = ::waitpid(pid, &status, WNOHANG);
  if (got == 0 || (got < 0 && errno == EINTR)) return std::nullopt;
  ExitState state;
  if (got < 0) return state;
  if (WIFSIGNALED(status)) {
    state.signal = WTERMSIG(status);
  } else {
    state.exit_status = WEXITSTATUS(status);
  }
  return state;
}

ProcessUse process_use(pid_t pid) {
  ProcessUse use;
  if (const auto stat = read_stat(pid)) {
    use.cpu_seconds = stat->cpu_seconds;
    use.faults = stat->faults;
  }
  if (const auto text = read_file(fmt::format("/proc/{}/statm", pid), 4096)) {
    const auto fields = split(*text, ' ');
    if (fields.size() > 1) {
      use.resident = std::strtoull(fields[1].c_str(), nullptr, 10) *
                     static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    }
  }
  return use;
}

double starved_seconds(pid_t pid) {
  const std::string folder = fmt::format("/proc/{}/task", pid);
  DIR* tasks = ::opendir(folder.c_str());
  if (!tasks) return 0;
  double nanoseconds = 0;
  while (const dirent* entry = ::readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    const auto text = read_file(fmt::format("{}/{}/schedstat", folder, entry->d_name), 4096);
    const auto fields = text ? split(*text, ' ') : std::vector<std::string>{};
    // Its second field: nanoseconds in the run queue.
    if (fields.size() > 1) nanoseconds += std::atof(fields[1].c_str());
  }
  ::closedir(tasks);
  return nanoseconds * 1e-9;
}

void become_subreaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

void sweep_orphans(const std::vector<pid_t>& keep) {
  const pid_t self = ::getpid();
  for (const ProcessStat& process : all_processes()) {
    if (process.parent != self || std::count(keep.begin(), keep.end(), process.pid)) continue;
    ::kill(process.pid, SIGKILL);
    // It dies at once unless it sleeps in the kernel; then it is left to a later sweep.
    for (int i = 0; i < 50 && ::waitpid(process.pid, nullptr, WNOHANG) == 0; ++i) ::usleep(1000);
  }
}

std::vector<pid_t> descendants(pid_t root) {
  const auto processes = all_processes();
  std::vector<pid_t> found{root};
  for (size_t next = 0; next < found.size(); ++next) {
    for (const ProcessStat& process : processes) {
      if (process.parent == found[next]) found.push_back(process.pid);
    }
  }
  return found;
}

std::string own_executable() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  if (size > 0) return std::string(path, static_cast<size_t>(size));
  // Without /proc: the name by which we were started.
  const auto name = ::getauxval(AT_EXECFN);
  std::error_code error;
  const auto real =
      std::filesystem::canonical(name ? reinterpret_cast<const char*>(name) : "", error);
  return error ? "/proc/self/exe" : real.string();
}

std::string boot_id() {
  const auto text = read_file("/proc/sys/kernel/random/boot_id", 256);
  return text ? std::string(trim(*text)) : "unknown";
}

}  // namespace clvet
