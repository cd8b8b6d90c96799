// A network run on a device node by node, each beside the host's float32.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "runtime/exec/session.h"
#include "runtime/graph/tensor.h"
#include "runtime/precision/emulation.h"
#include "runtime/precision/watch.h"

namespace clvet {

// Runs each node by itself: the device reads the reference's values. Watched::low stays empty.
// `session` has the emulation's nodes and values; its constants may be rounded.
Result<Watched> watch_alone(const Emulation& emulation, Session& session,
                            const std::map<std::string, Tensor>& inputs);
// The same, and the network as it runs.
Result<Watched> watch_device(const Emulation& emulation, Session& session,
                             const std::map<std::string, Tensor>& inputs);

}  // namespace clvet
