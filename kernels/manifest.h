// The JSON form of a manifest: what is a kernel's own.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/op_trials.h"

namespace clvet {

// Parses the manifest at `path` ("ops/<family>/<id>.json"). It is tried on the shapes of its op,
// one of `ops`, that its `where` takes. kInvalidArgument: the message names the file and the field.
//
// Fields: op, precisions, activations, args, global are required; text, preludes, weights,
// weight_types, params, where, pack, local, require, rank, constructs, trial_only, tier, core,
// local_bytes, at_once are optional; any other name is an error. An arg is "<kind>:<name>" with
// kinds in, out, vector, index, weights, scales, state, int and float; the weights of an op that
// has one matrix need no name. A tensor may end in "@buffer" or "@image". An input, vector or index
// may end in "?<expression>": it is a null pointer where that is zero. Where its trials differ from
// its op's: shapes, the names of those of the op's tests that it is tried on; tests, more that no
// other kernel is tried on; timed, instead of the op's.
Result<Manifest> parse_manifest(const std::string& path, const std::string& text,
                                const std::vector<OpTrials>& ops);

}  // namespace clvet
