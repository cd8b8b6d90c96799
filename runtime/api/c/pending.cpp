// A run that goes on by itself.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <future>

#include "clvet/clvet_c.h"
#include "clvet/result.h"
#include "clvet/session.h"
#include "runtime/api/c/call.h"
#include "runtime/api/c/handles.h"  // IWYU pragma: keep

using namespace clvet::v1::c;
using clvet::v1::Error;
using clvet::v1::ErrorCode;
using clvet::v1::Status;

namespace {

// A clock cannot count many more.
constexpr double kForever = 1e8;

bool ends_within(const std::shared_future<Status>& run, double seconds) {
  if (seconds < 0 || seconds > kForever) {
    run.wait();
    return true;
  }
  return run.wait_for(std::chrono::duration<double>(seconds)) == std::future_status::ready;
}

}  // namespace

clvet_code clvet_session_run_async(clvet_session* session, clvet_pending** out) {
  clear(out);
  return call(__func__, {{"session", session}, {"out", out}}, [&]() -> Status {
    *out = new clvet_pending{session->session.run_async().share(), ::getpid()};
    return {};
  });
}

clvet_code clvet_pending_wait(clvet_pending* pending, double seconds, int32_t* done) {
  clear(done);
  return call(__func__, {{"pending", pending}, {"done", done}}, [&]() -> Status {
    if (std::isnan(seconds)) return invalid("the seconds to wait are not a number");
    const std::shared_future<Status> run = pending->done;
    if (::getpid() != pending->process && !ends_within(run, 0))
      return Error{ErrorCode::unavailable,
                   fmt::format("the run belongs to process {}: nothing ends it in this one",
                               pending->process)};
    if (!ends_within(run, seconds)) return {};
    *done = 1;
    return run.get();
  });
}

void clvet_pending_free(clvet_pending* pending) { delete pending; }
