// Driver calls of a worker: each with its stage marked and its answer checked. What the driver did
// wrong comes back in the words of the report.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "kernels/catalog.h"
#include "probe/cl/api.h"
#include "probe/process/stage_page.h"
#include "probe/report/report.h"
#include "probe/worker/driver_session.h"

namespace clvet {

// Ends a request early.
struct DriverFault {
  Verdict verdict = Verdict::kLaunchError;
  Stage stage = Stage::kEnqueue;
  std::string call;
  cl_int code = CL_SUCCESS;
  std::string note;
};

template <class T>
using Driven = tl::expected<T, DriverFault>;
using DrivenStatus = Driven<void>;

#define CLVET_DRIVE(expression)                                      \
  do {                                                               \
    if (auto driven = (expression); !driven) {                       \
      return tl::unexpected<DriverFault>(std::move(driven).error()); \
    }                                                                \
  } while (false)

tl::unexpected<DriverFault> refused(Stage stage, const char* call, cl_int code);
tl::unexpected<DriverFault> lied(Stage stage, const char* call, std::string note);
// verdict, stage, call, cl_error and note of a reply.
void tell_fault(const DriverFault& fault, nlohmann::json& reply);

// Calls a function that creates an object, `make(cl_int*)`, and checks code and object.
template <class Handle, class Create>
Driven<Handle> create_object(const ClApi& api, Stage stage, const char* call, const Create& make) {
  cl_int status = CL_SUCCESS;
  Handle handle;
  {
    const StageMarker marker(stage, call);
    handle = Handle(api, make(&status));
  }
  if (status != CL_SUCCESS) return refused(stage, call, status);
  if (!handle) return lied(stage, call, fmt::format("{} returned success and no object", call));
  return handle;
}

// `may_compile`: it has the clock of a build.
template <class Call>
DrivenStatus run_call(Stage stage, const char* name, const Call& call, bool may_compile = false) {
  cl_int status = CL_SUCCESS;
  {
    const StageMarker marker(stage, name, may_compile);
    status = call();
  }
  if (status != CL_SUCCESS) return refused(stage, name, status);
  return {};
}

// Makes the session's program and kernel those of `program`. The ones before become spare where a
// later trial wants them, and are released where none does. In `reply`, where it had to be built:
// build_ms, or the log.
DrivenStatus build_kernel(DriverSession& session, const Program& program, nlohmann::json& reply);
// The same for the kernel `entry` of kernels/checks/<text>.cl.
DrivenStatus build_check(DriverSession& session, std::string_view text, std::string_view entry,
                         nlohmann::json& reply);
// The same for the kernel that does nothing, and a launch of it that is not waited for.
DrivenStatus build_idle(DriverSession& session, nlohmann::json& reply);
DrivenStatus enqueue_idle(DriverSession& session);
void release_program(DriverSession& session);  // that in hand
// That with the key, in hand or spare.
void release_program(DriverSession& session, const std::string& key);
// Makes a program spare. Where there are too many of these, they are released first.
void put_aside(DriverSession& session, BuiltProgram& built);
// The time in ms of one of so many launches of a kernel that does nothing, as time_batch() has it;
// empty where the driver does not do that. The session's program stays.
std::optional<double> time_idle(DriverSession& session, int launches);
// A launch of the session's kernel, not waited for; `local` may be null.
DrivenStatus enqueue_kernel(DriverSession& session, int work_dim, const size_t* global,
                            const size_t* local);
DrivenStatus finish_queue(DriverSession& session);

}  // namespace clvet
