// What a worker holds between requests: the library, the device opened, the programs built.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/result.h"
#include "probe/cl/api.h"
#include "probe/cl/handles.h"
#include "probe/cl/library.h"
#include "probe/process/driver_files.h"
#include "probe/worker/protocol.h"

namespace clvet {

struct HeldTrial;  // probe/trial/held_trial.h

struct BuiltProgram {
  std::string key;  // Program::key
  ClProgram program;
  ClKernel kernel;
  bool ran = false;     // its first enqueue, which may compile, lies behind it
  bool wanted = false;  // by a later trial
};

struct DriverSession {
  std::optional<LoadedLibrary> library;
  BeforeDriver before;
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  ClContext context;
  ClQueue queue;
  bool processor = false;  // the device computes where this process runs
  BuiltProgram built;      // of the trial in hand, or of the last one
  // What does nothing, for the time that a launch alone takes; empty where it was not asked for
  // yet, or `no_idle`: where the driver does not make it.
  BuiltProgram idle;
  bool no_idle = false;
  std::map<int, std::shared_ptr<HeldTrial>> held;  // trials that are kept for rounds
  std::map<std::string, BuiltProgram> spare;       // that later trials may ask for, by their keys

  const ClApi& api() const { return library->api; }
};

// A request handler: fills `reply`, reads descriptors of `request`. Driver failures are part of the
// reply; an Error is a fault of the request.
using WorkerHandler = Status (*)(DriverSession& session, Message& request, nlohmann::json& reply);

// probe/discover/enumerate.cpp: {"library"} -> platforms and devices with all their properties.
Status handle_enumerate(DriverSession& session, Message& request, nlohmann::json& reply);
// probe/discover/enumerate.cpp: {"library","platform","device","processor"} -> context and queue.
Status handle_open(DriverSession& session, Message& request, nlohmann::json& reply);
// probe/discover/objects.cpp: {} -> the driver objects mapped by now.
Status handle_objects(DriverSession& session, Message& request, nlohmann::json& reply);
// probe/checks/shared_memory.cpp: {"memory","bytes","launches"}, descriptors of what is written and
// of what maps show.
Status handle_shared_memory(DriverSession& session, Message& request, nlohmann::json& reply);
// probe/checks/peaks.cpp: {"what","bytes"} -> the peaks of one group, as far as it got.
Status handle_peaks(DriverSession& session, Message& request, nlohmann::json& reply);
// probe/trial/execute.cpp: one kernel case.
Status handle_trial(DriverSession& session, Message& request, nlohmann::json& reply);
// probe/trial/execute.cpp: {"key"} of a program that no trial wants any more.
Status handle_release(DriverSession& session, Message& request, nlohmann::json& reply);
// probe/trial/held_trial.cpp: some launches of a trial that is kept; all of those go.
Status handle_round(DriverSession& session, Message& request, nlohmann::json& reply);
Status handle_drop(DriverSession& session, Message& request, nlohmann::json& reply);

}  // namespace clvet
