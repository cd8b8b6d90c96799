#include "probe/worker/worker_main.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <functional>
#include <map>
#include <string>

#include "base/result.h"
#include "probe/process/driver_files.h"
#include "probe/process/stage_page.h"
#include "probe/worker/driver_session.h"
#include "probe/worker/protocol.h"

namespace clvet {
namespace {

constexpr int kControlFd = 3, kStageFd = 4;

const std::map<std::string, WorkerHandler, std::less<>>& handlers() {
  static const std::map<std::string, WorkerHandler, std::less<>> table = {
      {"enumerate", handle_enumerate}, {"open", handle_open},
      {"objects", handle_objects},     {"shared_memory", handle_shared_memory},
      {"peaks", handle_peaks},         {"trial", handle_trial},
      {"round", handle_round},         {"drop", handle_drop},
      {"release", handle_release},
  };
  return table;
}

// Dies with its supervisor, leaves no core file, and is the kernel's first choice when memory ends.
bool prepare_process(int parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != parent) return false;
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); fd >= 0) {
    [[maybe_unused]] const ssize_t written = ::write(fd, "800", 3);
    ::close(fd);
  }
  ::fcntl(kControlFd, F_SETFD, FD_CLOEXEC);
  ::fcntl(kStageFd, F_SETFD, FD_CLOEXEC);
  return true;
}

// A driver's compiler frees what it took after each program and takes it again for the next one.
void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kKept = 64 << 20;
  ::mallopt(M_TRIM_THRESHOLD, kKept);
  ::mallopt(M_MMAP_THRESHOLD, kKept / 4);
#endif
}

nlohmann::json serve(DriverSession& session, Message& request) {
  nlohmann::json reply = nlohmann::json::object();
  if (request.lost_fds) return {{"fault", "it has too many files open"}};
  const std::string verb = request.body.value("do", "");
  const auto handler = handlers().find(verb);
  if (handler == handlers().end()) {
    return {{"fault", fmt::format("unknown request '{}'", verb)}};
  }
  StageMarker::set_careful(request.body.value("careful", false));
  const Status status = handler->second(session, request, reply);
  if (!status) reply["fault"] = status.error().message;
  return reply;
}

}  // namespace

int worker_main(int parent) {
  if (!prepare_process(parent) || !StageMarker::attach(kStageFd)) return 4;
  keep_freed_memory();
  DriverSession session;
  session.before = BeforeDriver::now();
  for (;;) {
    Result<Message> request = receive_message(kControlFd);
    if (!request) return 0;
    nlohmann::json reply = serve(session, *request);
    reply["nonce"] = request->body.value("nonce", "");
    if (!send_message(kControlFd, reply, {})) return 0;
  }
}

}  // namespace clvet
