// The supervisor's half of a trial: outputs against the reference, outcome to verdict.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"
#include "probe/report/report.h"
#include "probe/trial/cases.h"
#include "probe/trial/material.h"
#include "probe/trial/request.h"

namespace clvet {

struct Outcome;

// The verdict rows that do not depend on what happened: names, keys, combination, constructs.
VerdictReport blank_verdict(const TrialCase& trial, const std::string& device_id);

// What an outcome says of a case. Only kReply, kEnded, kHang, kMemory, kNonsense and kUnreapable
// are judged; the others say nothing of the driver. An error is our own: there is no memory to look
// at the outputs with.
Result<VerdictReport> judge(const TrialCase& trial, const Material& material,
                            const PreparedTrial& prepared, const Outcome& outcome,
                            const std::string& device_id);

// The part of `judge` that looks at an outcome without a reply, or with one that makes no sense:
// verdict, how the process ended and, in the note, in words.
void judge_end(const Outcome& outcome, VerdictReport& verdict);

// Calls a pass a lie where the device cannot be as fast as its times say: a driver that skips
// launches leaves the right outputs of earlier ones. The limit is 4096 operations a cycle and
// compute unit: the matrix units of an NVIDIA H100 do as many, plain OpenCL a quarter at most. A
// clock below 1 GHz counts as 1 GHz, since drivers report too little.
void doubt_times(const DeviceReport& device, VerdictReport& verdict);

// An output as it came back: all its readings, one after another.
struct OutputReadings {
  MemoryRequest memory;
  std::span<const std::byte> bytes;
};

// The part of `judge` that looks at outputs: guards, every repeat against the reference, repeats
// against each other. `outputs` stand as their roles do.
void judge_outputs(const TrialCase& trial, const Material& material, int repeats,
                   std::span<const OutputReadings> outputs, VerdictReport& verdict);

// True for verdicts after which a canary must show that the device still lives.
bool endangers_device(Verdict verdict);

}  // namespace clvet
