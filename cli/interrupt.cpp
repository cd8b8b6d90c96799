#include "cli/interrupt.h"

#include <signal.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <thread>

#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "probe/process/process.h"
#include "probe/worker/worker_limits.h"
#include "runtime/exec/flight.h"

namespace clvet {
namespace {

[[noreturn]] void end_now() {
  for (const pid_t pid : descendants(::getpid())) {
    if (pid != ::getpid()) ::kill(pid, SIGKILL);
  }
  leave_flight();
  end_progress();
  ::_exit(kExitInterrupted);
}

void wait_for_interrupts(sigset_t wanted) {
  int got = 0;
  while (::sigwait(&wanted, &got) != 0) continue;
  interrupt_requested.store(true);
  const timespec grace{0, kGraceMs * 1'000'000L};
  ::sigtimedwait(&wanted, nullptr, &grace);
  end_now();
}

}  // namespace

void catch_interrupts() {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGINT);
  sigaddset(&wanted, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  std::thread(wait_for_interrupts, wanted).detach();
}

}  // namespace clvet
