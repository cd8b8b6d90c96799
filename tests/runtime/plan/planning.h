// What the planner's tests share: reports with times, choosers over them, a network that has a bit
// of everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "tests/runtime/reports.h"

namespace clvet {
class VariantChooser;
class VariantTable;
struct ExecutionPlan;
struct PlannedNode;
struct TestShape;
struct Variant;
}  // namespace clvet

namespace clvet::test {

class ModelBuilder;

// What a report says of one case; 0: not timed.
struct Told {
  Verdict verdict = Verdict::kPass;
  double ms = 0, piped_ms = 0;
};
using Teller = std::function<Told(const Variant&, const TestShape&)>;

// Adds what `tell` says of every case of a device; "missing" is left out.
void add_verdicts(const DeviceReport& device, const Teller& tell, Report& report);

// Of that device alone.
Report timed_report(const DeviceReport& device, const Teller& tell);

std::shared_ptr<const VariantTable> table();

// For the first device of the report.
std::shared_ptr<const VariantChooser> chooser_of(const Report& report);
std::shared_ptr<const VariantChooser> chooser_that(const Judge& judge, const Limits& limits = {});

// All shapes are known.
Graph ready(const ModelBuilder& model);

// Noise.
std::vector<float> values(size_t count, uint32_t seed = 1);

// A node that no kernel runs.
void host_node(ModelBuilder& model, const std::string& from, const std::string& to);

// Convolutions, a view, a product, an addition, and a node in the middle that only the host has.
Graph mixed_network();

inline const Combination kBuffers = {Precision::kHigh, Memory::kNormal, Storage::kBuffer,
                                     Storage::kBuffer};
inline const Combination kImages = {Precision::kHigh, Memory::kNormal, Storage::kImage,
                                    Storage::kImage};

// The node of the first phase with that name, which must be there.
const PlannedNode& node_of(const ExecutionPlan& plan, const std::string& name);

// "upload x, kernel gemm, host IsNaN_h, download y, ...": what the steps do.
std::vector<std::string> outline(const ExecutionPlan& plan);
// The operations of the kernels that the first phase's nodes take.
std::vector<std::string> kernel_ops(const ExecutionPlan& plan);

}  // namespace clvet::test
