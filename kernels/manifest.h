// The JSON form of a manifest; the only file pair here that knows JSON.
#pragma once

#include <string>

#include "base/result.h"
#include "kernels/catalog.h"

namespace clvet {

// Parses the manifest at `path` ("ops/<family>/<id>.json"). kInvalidArgument: the message names the
// file and the field.
//
// Fields: op, precisions, activations, args, global, tests are required; preludes, weights,
// weight_types, params, where, pack, local, require, rank, constructs, trial_only, tier, timed are
// optional; any other name is an error. An arg is "<kind>:<name>" with kinds in, out, vector,
// index, int, float, or one of "weights" and "scales"; a tensor may end in "@buffer" or "@image".
Result<Manifest> parse_manifest(const std::string& path, const std::string& text);

}  // namespace clvet
