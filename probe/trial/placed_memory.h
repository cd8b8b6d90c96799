// A trial's memory objects on the device, and its launches into them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/fd.h"
#include "base/json.h"  // IWYU pragma: keep
#include "base/result.h"
#include "probe/cl/handles.h"
#include "probe/trial/request.h"
#include "probe/worker/drive.h"
#include "probe/worker/driver_session.h"

namespace clvet {

struct MemoryObject {
  ClMem whole;  // the allocation with its guards
  ClMem part;   // buffers with guards: the tensor alone
};

// A memory object of the trial with the bytes that fill or receive it.
struct PlacedMemory {
  MemoryRequest request;
  std::shared_ptr<const MemoryObject> object;  // null: not created yet
  Mapping bytes;
  std::vector<PlacedMemory> copies;  // beside this one
  size_t turn = 0;                   // which of them, or of this one as the last, is the argument
  cl_mem whole() const { return object->whole.get(); }
  cl_mem argument() const { return object->part ? object->part.get() : whole(); }
};

// Maps the descriptors that came with the request.
Result<std::vector<PlacedMemory>> map_memory(const TrialRequest& request,
                                             const std::vector<UniqueFd>& fds);
// Creates the objects that are not there yet and fills the inputs. Where there is no memory for all
// copies there are none.
DrivenStatus create_memory(DriverSession& session, std::vector<PlacedMemory>& memory);
// Of the session's kernel.
DrivenStatus set_args(DriverSession& session, const TrialRequest& request,
                      const std::vector<PlacedMemory>& memory);
// Milliseconds for each of `launches` that one wait is for; they take turns with the copies.
Driven<double> time_batch(DriverSession& session, const TrialRequest& request,
                          std::vector<PlacedMemory>& memory, int launches);
// Fills the outputs with the sentinel.
DrivenStatus clear_outputs(DriverSession& session, std::vector<PlacedMemory>& memory);
// Reads them back as reading number `number`, and says so in `reply`.
DrivenStatus read_outputs(DriverSession& session, std::vector<PlacedMemory>& memory, int number,
                          nlohmann::json& reply);

}  // namespace clvet
