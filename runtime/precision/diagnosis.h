// What `clvet diagnose` finds: `clvet.diagnosis/1`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/output_sign.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/contrast.h"
#include "runtime/precision/deviation.h"
#include "runtime/precision/engine_advice.h"
#include "runtime/precision/float_fault.h"
#include "runtime/precision/normalise.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/value_range.h"

namespace clvet {

// What is rounded, and whether nodes are fused before.
enum class Policy {
  kNaive,   // the network as it stands in the file, every constant rounded: most engines
  kEngine,  // as clvet runs it: folded and fused, vectors in float32
};
const char* to_string(Policy policy);

// Of a language model: positions whose next token is beyond doubt, and those of them where low
// precision chooses it, too (logits.h).
struct TokenChoices {
  int right = 0, of = 0;
};

struct DiagnosedOutput {
  std::string name;
  Deviation deviation;
  std::optional<TokenChoices> choices;
  OutputSign sign = OutputSign::kNone;  // that the reference's does not show
};

struct DiagnosedInput {
  std::string name;
  bool right = false;  // its outputs are those of float32
  std::vector<DiagnosedOutput> outputs;
  std::map<std::string, ValueRange> ranges;  // of the values that were given
  double host_ms = 0;                        // of the reference
  bool in_float32 = true;                    // the reference is right itself, see float_fault
};

struct DiagnosedNode {
  std::string name, op;
  std::vector<int> reads;          // nodes whose outputs it takes
  bool floats = false;             // it has float32 outputs; without, the rest says nothing
  ValueRange range;                // of all inputs
  Deviation isolated, cumulative;  // of the input with the largest
  bool constant = false;           // with some input
  std::optional<Blame> blame;
  std::vector<int> out_of_bounds;  // inputs for which the node alone is
  double ms = 0;
};

struct ErrorOrigin {
  int node = -1;  // -1: an input of the network
  std::string name, op;
  Blame blame;
  std::string made_by;             // the node that makes `value`, if it is another one
  double part = 0;                 // of the error that it alone makes
  std::vector<std::string> shows;  // nodes that are out of bounds because of it
  std::vector<int> inputs;         // for which it matters
};

// Instead of raising anything: a stream of values that is made smaller by a power of two, which is
// exact in float32.
struct ExactRescale {
  std::string value;
  double factor = 1;
  bool available = false;  // the model has vectors that take it; `right` says nothing without
  bool right = false;      // all inputs are, with nothing raised
  std::vector<DiagnosedInput> after;  // on a device, each input with it
};

// Milliseconds of a run: at low precision, with the plan's nodes raised, with all raised; 0: not
// known.
struct PlanTimes {
  double low = 0, raised = 0, high = 0;
};

struct PrecisionPlan {
  std::vector<std::string> raised;  // nodes, in order
  bool smallest = false;            // it was tried that no part of them is enough
  int trials = 0;
  int chosen_on = 0;  // inputs; the others were only looked at afterwards
  PlanTimes predicted;
  std::vector<DiagnosedInput> after;    // each input with these nodes raised
  bool right = false;                   // all of them are
  std::optional<ExactRescale> rescale;  // where that stream overflows
  std::vector<FileNode> in_file;        // of a network: what `raised` is in the file
  std::vector<EngineAdvice> advice;     // of a network
};

struct SavedValue {
  std::string name, file;
};

// The smallest part of the network that shows the first origin's fault, as files.
struct FailingFiles {
  std::string model;
  int nodes = 0;
  std::vector<SavedValue> inputs, outputs;
  std::string command;  // that diagnoses it
};

// On a device: a kernel that computes something else than the host in float32, too. It is not used
// for what follows.
struct BrokenKernel {
  std::string node, kernel;
  Deviation deviation;  // of the node alone
};

// Another way to run the network on the device, tried on inputs that are wrong.
struct OtherWay {
  std::string precision, storage;  // of activations
  bool right = false;
  double part = 0;  // the largest error of an output
  double ms = 0;
};

struct PrecisionDiagnosis {
  std::string model;
  Policy policy = Policy::kEngine;
  std::string place = "host";  // or the device
  NumberFormat format = NumberFormat::kHalf;
  double target = 0;  // the largest relative error of an output that passes
  std::vector<DiagnosedInput> inputs;
  std::vector<DiagnosedNode> nodes;
  std::vector<RangeContrast> contrasts;        // none where all inputs are right, or none
  std::vector<ErrorOrigin> origins;            // none where all inputs are right
  std::optional<NormaliseTrials> normalising;  // of a network
  std::optional<PrecisionPlan> plan;
  std::vector<BrokenKernel> broken;
  std::vector<OtherWay> other_ways;
  std::optional<PlanTimes> measured;      // on a device, where the inputs are right in the end
  std::optional<Error> stopped;           // what ended it before its time; the rest holds
  std::optional<FloatFault> float_fault;  // of a network
  std::optional<FailingFiles> failing;    // where that was asked for
};

std::string diagnosis_to_json(const PrecisionDiagnosis& diagnosis);

}  // namespace clvet
