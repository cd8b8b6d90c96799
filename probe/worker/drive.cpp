#include "probe/worker/drive.h"
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

#include "base/clock.h"
#include "kernels/catalog.h"
#include "probe/cl/api.h"
#include "probe/cl/program.h"
#include "probe/cl/query.h"
#include "probe/process/stage_page.h"
#include "probe/report/report.h"
#include "probe/worker/driver_session.h"

namespace clvet {

tl::unexpected<DriverFault> refused(Stage stage, const char* call, cl_int code) {
  return tl::unexpected(DriverFault{Verdict::kLaunchError, stage, call, code, {}});
}

tl::unexpected<DriverFault> lied(Stage stage, const char* call, std::string note) {
  return tl::unexpected(DriverFault{Verdict::kLie, stage, call, CL_SUCCESS, std::move(note)});
}

void tell_fault(const DriverFault& fault, nlohmann::json& reply) {
  reply["verdict"] = to_string(fault.verdict);
  reply["stage"] = to_string(fault.stage);
  reply["call"] = fault.call;
  reply["cl_error"] = fault.code;
  reply["note"] = fault.note;
}

namespace {

void release(BuiltProgram& built) {
  if (built.kernel) {
    const StageMarker marker(Stage::kRelease, "clReleaseKernel");
    built.kernel.reset();
  }
  if (built.program) {
    const StageMarker marker(Stage::kRelease, "clReleaseProgram");
    built.program.reset();
  }
  built = {};
}

}  // namespace

void release_program(DriverSession& session) { release(session.built); }

void release_program(DriverSession& session, const std::string& key) {
  if (session.built.key == key) release(session.built);
  if (auto spare = session.spare.extract(key)) release(spare.mapped());
}

void put_aside(DriverSession& session, BuiltProgram& built) {
  constexpr size_t kMostSpare = 64;
  if (session.spare.size() >= kMostSpare) {
    for (auto& [key, spare] : session.spare) release(spare);
    session.spare.clear();
  }
  BuiltProgram& place = session.spare[built.key];
  release(place);
  place = std::exchange(built, {});
}

namespace {

DrivenStatus create_and_build(DriverSession& session, const Program& program,
                              nlohmann::json& reply) {
  const ClApi& api = session.api();
  auto created = create_object<ClProgram>(
      api, Stage::kBuild, "clCreateProgramWithSource",
      [&](cl_int* status) { return create_program(api, session.context.get(), program, status); });
  if (!created) return tl::unexpected(created.error());
  session.built.program = std::move(*created);
  auto built = run_call(Stage::kBuild, "clBuildProgram", [&] {
    return api.clBuildProgram(session.built.program.get(), 1, &session.device,
                              program.options.c_str(), nullptr, nullptr);
  });
  if (built) return {};
  size_t claimed = 0;
  reply["log"] = build_log(api, session.built.program.get(), session.device, claimed);
  reply["log_bytes"] = claimed;
  built.error().verdict = Verdict::kBuildError;
  return built;
}

DrivenStatus create_kernel(DriverSession& session, const Program& program) {
  const ClApi& api = session.api();
  auto kernel =
      create_object<ClKernel>(api, Stage::kCreateKernel, "clCreateKernel", [&](cl_int* status) {
        return api.clCreateKernel(session.built.program.get(), program.entry.c_str(), status);
      });
  if (!kernel) {
    DriverFault fault = kernel.error();
    if (fault.verdict == Verdict::kLaunchError) fault.verdict = Verdict::kKernelCreateFailed;
    return tl::unexpected(fault);
  }
  session.built.kernel = std::move(*kernel);
  return {};
}

}  // namespace

DrivenStatus build_kernel(DriverSession& session, const Program& program, nlohmann::json& reply) {
  if (session.built.kernel && session.built.key == program.key) return {};
  if (session.built.wanted) put_aside(session, session.built);
  release_program(session);
  if (auto spare = session.spare.extract(program.key)) {
    session.built = std::move(spare.mapped());
    return {};
  }
  const double started = monotonic_seconds();
  CLVET_DRIVE(create_and_build(session, program, reply));
  CLVET_DRIVE(create_kernel(session, program));
  session.built.key = program.key;
  reply["build_ms"] = ms_since(started);
  return {};
}

DrivenStatus build_check(DriverSession& session, std::string_view text, std::string_view entry,
                         nlohmann::json& reply) {
  return build_kernel(session, check_program(text, entry).value_or(Program()), reply);
}

DrivenStatus enqueue_kernel(DriverSession& session, int work_dim, const size_t* global,
                            const size_t* local) {
  return run_call(
      Stage::kEnqueue, "clEnqueueNDRangeKernel",
      [&] {
        return session.api().clEnqueueNDRangeKernel(session.queue.get(), session.built.kernel.get(),
                                                    static_cast<cl_uint>(work_dim), nullptr, global,
                                                    local, 0, nullptr, nullptr);
      },
      !session.built.ran);
}

DrivenStatus build_idle(DriverSession& session, nlohmann::json& reply) {
  return build_check(session, "peaks", "clvet_peaks_launch", reply);
}

DrivenStatus enqueue_idle(DriverSession& session) {
  constexpr size_t kItems = 64;  // NVIDIA takes 4 us more for a single one
  return enqueue_kernel(session, 1, &kItems, nullptr);
}

namespace {

DrivenStatus run_idle(DriverSession& session, int launches) {
  for (int i = 0; i < launches; ++i) CLVET_DRIVE(enqueue_idle(session));
  return finish_queue(session);
}

// In place of the session's program, which is put back.
DrivenStatus make_idle(DriverSession& session) {
  nlohmann::json unused;
  std::swap(session.built, session.idle);
  DrivenStatus made = build_idle(session, unused);
  if (made) made = run_idle(session, 1);
  std::swap(session.built, session.idle);
  return made;
}

}  // namespace

std::optional<double> time_idle(DriverSession& session, int launches) {
  if (session.no_idle) return std::nullopt;
  if (!session.idle.kernel) session.no_idle = !make_idle(session).has_value();
  if (session.no_idle) return std::nullopt;
  std::swap(session.built, session.idle);
  const double started = monotonic_seconds();
  const bool ran = run_idle(session, launches).has_value();
  const double ms = ms_since(started) / launches;
  std::swap(session.built, session.idle);
  session.no_idle = !ran;
  return ran ? std::optional(ms) : std::nullopt;
}

DrivenStatus finish_queue(DriverSession& session) {
  CLVET_DRIVE(run_call(
      Stage::kFinish, "clFinish", [&] { return session.api().clFinish(session.queue.get()); },
      !session.built.ran));
  session.built.ran = true;
  return {};
}

}  // namespace clvet
