#include "tests/runtime/plan/planning.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/infer.h"
#include "runtime/plan/device_choice.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_choice.h"
#include "runtime/plan/variant_table.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"
#include "tests/runtime/reports.h"

namespace clvet::test {

void add_verdicts(const DeviceReport& device, const Teller& tell, Report& report) {
  const Catalog catalog = *Catalog::embedded();
  for (const Manifest& manifest : catalog.manifests()) {
    for (const Variant& variant : variants_of(manifest)) {
      const std::string key = program_of(variant)->variant_key;
      for (const TestShape& shape : manifest.tests) {
        const Told told = tell(variant, shape);
        if (told.verdict == Verdict::kMissing) continue;
        VerdictReport row;
        row.device = device.id;
        row.case_name = variant.name() + "/" + shape.name;
        row.op = manifest.op;
        row.kernel = manifest.id;
        row.variant_key = key;
        row.combination = variant.combination();
        row.weight_type = variant.weight_type;
        row.verdict = told.verdict;
        row.median_ms = told.ms;
        row.piped_ms = told.piped_ms;
        report.verdicts.push_back(std::move(row));
      }
    }
  }
}

Report timed_report(const DeviceReport& device, const Teller& tell) {
  Report report;
  report.kernel_set = kernel_set();
  report.devices = {device};
  add_verdicts(device, tell, report);
  return report;
}

std::shared_ptr<const VariantTable> table() { return *VariantTable::embedded(); }

std::shared_ptr<const VariantChooser> chooser_of(const Report& report) {
  return clvet::chooser_of(report, report.devices.front(), table());
}
std::shared_ptr<const VariantChooser> chooser_that(const Judge& judge, const Limits& limits) {
  return chooser_of(report_of(device_with(limits), judge));
}

Graph ready(const ModelBuilder& model) {
  auto graph = specialise(model.build(), {});
  EXPECT_TRUE(graph) << graph.error().message;
  return graph ? std::move(*graph) : Graph{};
}

std::vector<float> values(size_t count, uint32_t seed) {
  const Tensor tensor = noise({static_cast<int64_t>(count)}, seed);
  return floats(tensor);
}

void host_node(ModelBuilder& model, const std::string& from, const std::string& to) {
  model.node("IsNaN", {from}, {to + "_bool"});
  set_int(model.node("Cast", {to + "_bool"}, {to}), "to", 1);
}

Graph mixed_network() {
  ModelBuilder model;
  model.input("x", {1, 3, 6, 8}).output("y").output("side");
  model.constant("w1", {8, 3, 3, 3}, values(8 * 3 * 3 * 3)).constant("b1", {8}, values(8, 2));
  model.constant("w2", {4, 8, 1, 1}, values(32, 3));
  model.constant("row", {4, 1, 1}, values(4, 4)).constant("w3", {8, 5}, values(40, 5));
  set_ints(model.node("Conv", {"x", "w1", "b1"}, {"c1"}), "pads", {1, 1, 1, 1});
  model.node("Conv", {"c1", "w2"}, {"c2"});
  host_node(model, "c2", "h");
  model.node("Add", {"c2", "h"}, {"a"});
  model.node("Mul", {"a", "row"}, {"side"});
  set_ints(model.node("Transpose", {"side"}, {"t"}), "perm", {0, 2, 1, 3});
  model.node("MatMul", {"t", "w3"}, {"m"});
  model.node("Softmax", {"m"}, {"y"});
  return ready(model);
}

const PlannedNode& node_of(const ExecutionPlan& plan, const std::string& name) {
  for (const PlannedNode& node : plan.phases.front().nodes) {
    if (node.name == name) return node;
  }
  ADD_FAILURE() << "no node " << name;
  static const PlannedNode kNone;
  return kNone;
}

std::vector<std::string> outline(const ExecutionPlan& plan) {
  std::vector<std::string> lines;
  const PlanPhase& phase = plan.phases.front();
  for (const PlanStep& step : phase.steps) {
    const auto tensor = [&] { return plan.tensors.at(static_cast<size_t>(step.tensor)).value; };
    if (step.kind == StepKind::kUpload) lines.push_back("upload " + tensor());
    if (step.kind == StepKind::kDownload) lines.push_back("download " + tensor());
    if (step.kind == StepKind::kKernel) lines.push_back("kernel " + step.op);
    if (step.kind == StepKind::kHost) {
      lines.push_back("host " + phase.nodes.at(static_cast<size_t>(step.node)).name);
    }
  }
  return lines;
}

std::vector<std::string> kernel_ops(const ExecutionPlan& plan) {
  std::vector<std::string> ops;
  for (const PlanStep& step : plan.phases.front().steps) {
    if (step.kind == StepKind::kKernel && step.node >= 0) ops.push_back(step.op);
  }
  return ops;
}

}  // namespace clvet::test
