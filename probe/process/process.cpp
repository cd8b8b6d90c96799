#include "probe/process/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
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
  // are parked above all of these first, so that none overwrites another, and no higher: the
  // limit of descriptors may be low.
  void place(const std::vector<int>& inherit, int out) {
    constexpr int kFirst = 3;
    int parking = std::max(out, kFirst + static_cast<int>(inherit.size()) - 1);
    for (const int fd : inherit) parking = std::max(parking, fd);
    ++parking;
    std::vector<std::pair<int, int>> moves;  // from, to
    if (out >= 0) {
      posix_spawn_file_actions_addopen(&value, 0, "/dev/null", O_RDONLY, 0);
      moves = {{out, 1}, {out, 2}};
    }
    for (size_t i = 0; i < inherit.size(); ++i)
      moves.emplace_back(inherit[i], kFirst + static_cast<int>(i));
    const int count = static_cast<int>(moves.size());
    for (int i = 0; i < count; ++i) add_dup(moves[static_cast<size_t>(i)].first, parking + i);
    for (int i = 0; i < count; ++i) add_dup(parking + i, moves[static_cast<size_t>(i)].second);
    for (int i = 0; i < count; ++i) posix_spawn_file_actions_addclose(&value, parking + i);
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

std::string linked_executable() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : std::string();
}

// Where it is this process's own and its file was removed or replaced meanwhile: the same program,
// which the kernel still has.
std::string as_it_was(const std::string& program) {
  if (program != own_executable()) return program;
  const bool gone = linked_executable() != program || program.ends_with(" (deleted)");
  return gone ? "/proc/self/exe" : program;
}

// The processes that descend from `root` and have none of `spared` between.
std::vector<pid_t> descendants_among(const std::vector<ProcessStat>& processes, pid_t root,
                                     const std::vector<pid_t>& spared) {
  std::vector<pid_t> found{root};
  for (size_t next = 0; next < found.size(); ++next) {
    for (const ProcessStat& process : processes) {
      const bool spare = std::count(spared.begin(), spared.end(), process.pid) > 0;
      if (process.parent == found[next] && !spare) found.push_back(process.pid);
    }
  }
  found.erase(found.begin());
  return found;
}

// What a process takes of the memory, with its share of pages that others have too.
uint64_t share_of_memory(pid_t pid) {
  const auto text = read_file(fmt::format("/proc/{}/smaps_rollup", pid), 1 << 16);
  const auto at = text ? text->find("\nPss:") : std::string::npos;
  if (at == std::string::npos) return process_use(pid).resident;
  return std::strtoull(text->c_str() + at + 5, nullptr, 10) * 1024;
}

}  // namespace

Result<pid_t> spawn(const SpawnRequest& request) {
  std::vector<std::string> args = request.args;
  std::vector<std::string> environment = merged_environment(request.environment);
  FileActions actions;
  actions.place(request.inherit, request.out);
  const SpawnAttributes attributes;
  pid_t pid = 0;
  const std::string program = as_it_was(request.program);
  const int error = ::posix_spawn(&pid, program.c_str(), &actions.value, &attributes.value,
                                  pointers(args).data(), pointers(environment).data());
  if (error == 0) return pid;
  if (error == ENOENT || error == EACCES || error == ENOEXEC) {
    return fail(ErrorCode::kInternal, "cannot start {}: {}; install clvet again, then repeat this",
                request.program, std::strerror(error));
  }
  return fail(ErrorCode::kInternal,
              "cannot start {}: {}; free memory, or raise the limits of processes and files "
              "(ulimit -u, ulimit -n), then repeat this",
              request.program, std::strerror(error));
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

// Children that a shell began before it became this process (`server & exec clvet ...`).
static std::vector<pid_t>& inherited() {
  static std::vector<pid_t> children;
  return children;
}

void become_subreaper() {
  static std::once_flag first;
  std::call_once(first, [] { inherited() = descendants_among(all_processes(), ::getpid(), {}); });
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void sweep_orphans(const std::vector<pid_t>& keep) {
  std::vector<pid_t> spared = keep;
  spared.insert(spared.end(), inherited().begin(), inherited().end());
  // The children of what is killed become this process's own: another round finds them, and what
  // was forked meanwhile. What sleeps in the kernel is left to a later sweep.
  constexpr int kRounds = 50;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<pid_t> left = descendants_among(all_processes(), ::getpid(), spared);
    if (left.empty()) return;
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    ::usleep(1000);
    for (const pid_t pid : left) ::waitpid(pid, nullptr, WNOHANG);
  }
}

uint64_t memory_of_family(pid_t root, const std::vector<pid_t>& others) {
  const std::vector<ProcessStat> processes = all_processes();
  std::vector<pid_t> spared = others;
  spared.push_back(root);
  spared.insert(spared.end(), inherited().begin(), inherited().end());
  uint64_t bytes = 0;
  for (const pid_t pid : descendants_among(processes, root, others)) bytes += share_of_memory(pid);
  for (const pid_t pid : descendants_among(processes, ::getpid(), spared))
    bytes += share_of_memory(pid);
  return bytes;
}

std::vector<pid_t> descendants(pid_t root) {
  std::vector<pid_t> found = descendants_among(all_processes(), root, {});
  found.insert(found.begin(), root);
  return found;
}

namespace {

std::string find_own_executable() {
  if (std::string path = linked_executable(); !path.empty()) return path;
  // Without /proc: the name by which we were started.
  const auto name = ::getauxval(AT_EXECFN);
  std::error_code error;
  const auto real =
      std::filesystem::canonical(name ? reinterpret_cast<const char*>(name) : "", error);
  return error ? "/proc/self/exe" : real.string();
}

}  // namespace

std::string own_executable() {
  static const std::string path = find_own_executable();
  return path;
}

void raise_descriptor_limit() {
  // Drivers that close all that could be open must not count to a million.
  constexpr rlim_t kEnough = 4096;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kEnough) return;
  limit.rlim_cur = std::min(limit.rlim_max, kEnough);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

uint64_t descriptor_limit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

std::string boot_id() {
  const auto text = read_file("/proc/sys/kernel/random/boot_id", 256);
  return text ? std::string(trim(*text)) : "unknown";
}

}  // namespace clvet
