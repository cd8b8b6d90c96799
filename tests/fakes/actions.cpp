#include "tests/fakes/actions.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>

#include "tests/fakes/scenario.h"

namespace fake_cl {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

void write_all(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t n = write(fd, data, size);
    if (n <= 0) return;
    data += n;
    size -= static_cast<size_t>(n);
  }
}

[[noreturn]] void do_abort(const json& p) {
  const std::string text =
      p.value("stderr", "LLVM ERROR: Cannot select: intrinsic %llvm.bifrost.2586\n");
  write_all(STDERR_FILENO, text.data(), text.size());
  std::abort();
}

void do_segfault() {
  int* volatile nowhere = nullptr;
  *static_cast<volatile int*>(nowhere) = 1;
}

[[noreturn]] void do_hang(const json& p) {
  if (p.value("ignore_sigterm", false)) {
    for (int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) signal(number, SIG_IGN);
  }
  const bool spin = p.value("spin", false);
  for (;;) {
    if (!spin) std::this_thread::sleep_for(std::chrono::hours(1));
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
}

[[noreturn]] void do_exit(const json& p) {
  const int status = p.value("status", 0);
  if (p.value("handlers", false)) std::exit(status);
  _exit(status);
}

// "text" once, or repeated until "megabytes" are written.
void do_print(int fd, const json& p) {
  const std::string text = p.value("text", "arm_release_ver of this libmali is 'g6p0-01eac0'\n");
  const auto wanted = static_cast<size_t>(p.value("megabytes", 0.0) * (1 << 20));
  if (wanted == 0) return write_all(fd, text.data(), text.size());
  std::string block;
  while (block.size() < 65536) block += text.empty() ? "x" : text;
  for (size_t written = 0; written < wanted; written += block.size()) {
    write_all(fd, block.data(), block.size());
  }
}

void close_above_stderr() {
  const long limit = sysconf(_SC_OPEN_MAX);
  for (int fd = 3; fd < (limit > 0 && limit < 65536 ? limit : 65536); ++fd) close(fd);
}

// A grandchild in a session of its own that keeps stdout and stderr open.
void do_orphan(const json& p) {
  const auto seconds = static_cast<unsigned>(p.value("seconds", 30));
  const bool keep_all = p.value("keep_all_fds", false);
  const pid_t child = fork();
  if (child != 0) return;
  setsid();
  if (fork() != 0) _exit(0);
  if (!keep_all) close_above_stderr();
  if (p.value("ignore_sigterm", false)) signal(SIGTERM, SIG_IGN);
  for (unsigned left = seconds; left > 0;) left = sleep(left);
  _exit(0);
}

void do_delay(const json& p) {
  const auto end = std::chrono::steady_clock::now() + milliseconds(p.value("ms", 1000));
  if (!p.value("spin", false)) return std::this_thread::sleep_until(end);
  while (std::chrono::steady_clock::now() < end) {
  }
}

// Touches memory step by step; freed at the end unless "keep".
void do_balloon(const json& p) {
  const size_t step = size_t{16} << 20;
  const auto wanted = static_cast<size_t>(p.value("megabytes", 4096)) << 20;
  char* memory = static_cast<char*>(mmap(nullptr, wanted, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (memory == MAP_FAILED) return;
  for (size_t at = 0; at < wanted; at += step) {
    std::memset(memory + at, 1, std::min(step, wanted - at));
    std::this_thread::sleep_for(milliseconds(p.value("step_ms", 5)));
  }
  std::this_thread::sleep_for(milliseconds(p.value("hold_ms", 100)));
  if (!p.value("keep", false)) munmap(memory, wanted);
}

// Descriptors that are open stay open; no other can be opened.
void limit_files(const json& p) {
  const auto most = static_cast<rlim_t>(p.value("to", 3));
  const rlimit limit{most, most};
  setrlimit(RLIMIT_NOFILE, &limit);
}

volatile int g_handler_status = 0;
void handler(int) {
  static const char kText[] = "driver: fatal signal caught\n";
  if (write(STDERR_FILENO, kText, sizeof kText - 1) < 0) _exit(98);
  _exit(g_handler_status);
}

void do_signal_handlers(const json& p) {
  g_handler_status = p.value("status", 0);
  for (int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTERM}) signal(number, handler);
}

}  // namespace

bool disturb_process(const Rule& rule) {
  const json& p = rule.parameters;
  const std::string& action = rule.action;
  if (action == "abort") do_abort(p);
  if (action == "hang") do_hang(p);
  if (action == "exit") do_exit(p);
  if (action == "segfault")
    do_segfault();
  else if (action == "stdout")
    do_print(STDOUT_FILENO, p);
  else if (action == "stderr")
    do_print(STDERR_FILENO, p);
  else if (action == "orphan")
    do_orphan(p);
  else if (action == "delay")
    do_delay(p);
  else if (action == "balloon")
    do_balloon(p);
  else if (action == "chdir")
    (void)!::chdir(p.value("to", "/").c_str());
  else if (action == "limit_files")
    limit_files(p);
  else if (action == "close_fds")
    close_above_stderr();
  else if (action == "signal_handlers")
    do_signal_handlers(p);
  else
    return false;
  return true;
}

cl_int fire_plain(const std::string& call) {
  for (const Rule* rule : Scenario::instance().fire(call, {})) {
    if (!disturb_process(*rule) && rule->action == "error") {
      return error_code(*rule, CL_PLATFORM_NOT_FOUND_KHR);
    }
  }
  return CL_SUCCESS;
}

cl_int error_code(const Rule& rule, cl_int fallback) {
  static const std::map<std::string, cl_int> kNames = {
      {"CL_SUCCESS", CL_SUCCESS},
      {"CL_DEVICE_NOT_FOUND", CL_DEVICE_NOT_FOUND},
      {"CL_DEVICE_NOT_AVAILABLE", CL_DEVICE_NOT_AVAILABLE},
      {"CL_COMPILER_NOT_AVAILABLE", CL_COMPILER_NOT_AVAILABLE},
      {"CL_MEM_OBJECT_ALLOCATION_FAILURE", CL_MEM_OBJECT_ALLOCATION_FAILURE},
      {"CL_OUT_OF_RESOURCES", CL_OUT_OF_RESOURCES},
      {"CL_OUT_OF_HOST_MEMORY", CL_OUT_OF_HOST_MEMORY},
      {"CL_BUILD_PROGRAM_FAILURE", CL_BUILD_PROGRAM_FAILURE},
      {"CL_MAP_FAILURE", CL_MAP_FAILURE},
      {"CL_INVALID_VALUE", CL_INVALID_VALUE},
      {"CL_INVALID_BINARY", CL_INVALID_BINARY},
      {"CL_INVALID_BUILD_OPTIONS", CL_INVALID_BUILD_OPTIONS},
      {"CL_INVALID_KERNEL_NAME", CL_INVALID_KERNEL_NAME},
      {"CL_INVALID_WORK_GROUP_SIZE", CL_INVALID_WORK_GROUP_SIZE},
      {"CL_INVALID_OPERATION", CL_INVALID_OPERATION}};
  const auto it = rule.parameters.find("code");
  if (it == rule.parameters.end()) return fallback;
  if (it->is_number()) return it->get<cl_int>();
  const auto name = kNames.find(it->get<std::string>());
  return name == kNames.end() ? fallback : name->second;
}

}  // namespace fake_cl
