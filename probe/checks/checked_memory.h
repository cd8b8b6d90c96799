// Memory that host and device share, in the ways that OpenCL has for it, as the checks of it use
// it.
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "probe/worker/drive.h"
#include "probe/worker/driver_session.h"

namespace clvet {

class CheckedMemory {
 public:
  virtual ~CheckedMemory() = default;
  // Every call is a stage of its own; touching what was mapped is part of it: a bad pointer ends
  // the worker there.
  virtual DrivenStatus write(DriverSession& session, std::span<const std::byte> bytes) = 0;
  virtual DrivenStatus set_arg(DriverSession& session, cl_uint index) = 0;
  // What a map of it shows.
  virtual DrivenStatus read(DriverSession& session, std::span<std::byte> seen) = 0;
  // Gives it back.
  virtual DrivenStatus release(DriverSession& session) = 0;
};

// `kind`: map_read (a plain buffer, written by a command), host_pointer (CL_MEM_USE_HOST_PTR),
// arm_import (cl_arm_import_memory) or svm (a coarse-grained allocation of OpenCL 2.0).
Driven<std::unique_ptr<CheckedMemory>> make_checked_memory(DriverSession& session,
                                                           std::string_view kind, size_t bytes);

}  // namespace clvet
