// libstill_clock.so, for LD_PRELOAD: in a worker the monotonic clock stands still, as where a
// driver brings a clock of its own. Every other process keeps its time.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

namespace {

bool is_worker() {
  std::ifstream file("/proc/self/cmdline");
  const std::string line((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return line.find(std::string("\0worker\0", 8)) != std::string::npos;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t id, timespec* now) {
  static const bool still = is_worker();
  if (!still || id != CLOCK_MONOTONIC) {
    return static_cast<int>(::syscall(SYS_clock_gettime, id, now));
  }
  *now = {1000, 0};
  return 0;
}
