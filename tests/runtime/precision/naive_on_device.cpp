// naive_on_device REPORT DEVICE MODEL FOLDER NODE...: an ONNX network on a device as an engine
// without folding runs it, at precision low but for the nodes named. FOLDER/NUMBER.npy is its input
// number NUMBER, from 0 on; its first output goes to FOLDER/NUMBER.out.npy.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/exec/session.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/media/npy.h"
#include "runtime/onnx/reader.h"
#include "runtime/precision/device/device_place.h"
#include "runtime/precision/diagnose_network.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/rounding.h"
#include "tests/runtime/reports.h"

namespace clvet {
namespace {

std::string input_file(const std::string& folder, size_t number) {
  return fmt::format("{}/{}.npy", folder, number);
}

Result<Raised> raised_of(const Graph& graph, std::span<char* const> names) {
  Raised raised(graph.nodes.size());
  for (const std::string name : names) {
    const auto node = std::ranges::find(graph.nodes, name, &Node::name);
    if (node == graph.nodes.end()) return fail(ErrorCode::kInvalidArgument, "no node '{}'", name);
    raised[static_cast<size_t>(node - graph.nodes.begin())] = true;
  }
  return raised;
}

Status run(std::span<char* const> words) {
  CLVET_ASSIGN_OR_RETURN(const Report report, test::read_report(words[0]));
  const DeviceTarget target{.report = &report, .device = words[1]};
  CLVET_ASSIGN_OR_RETURN(const Graph read, read_onnx(words[2]));
  const std::string folder = words[3];
  const std::string& input = read.values[static_cast<size_t>(read.inputs.at(0))].name;
  std::vector<CalibrationInput> inputs;
  for (size_t i = 0; std::filesystem::exists(input_file(folder, i)); ++i) {
    CLVET_ASSIGN_OR_RETURN(Tensor values, read_npy(input_file(folder, i)));
    inputs.push_back({std::to_string(i), {{input, std::move(values)}}});
  }
  CLVET_ASSIGN_OR_RETURN(const Graph graph, prepare_for_diagnosis(read, inputs, Policy::kNaive));
  CLVET_ASSIGN_OR_RETURN(const Raised raised, raised_of(graph, words.subspan(4)));
  CLVET_ASSIGN_OR_RETURN(const auto place, DevicePlace::open(graph, Policy::kNaive, target));
  CLVET_ASSIGN_OR_RETURN(Session * session, place->session(raised));
  for (const CalibrationInput& one : inputs) {
    CLVET_ASSIGN_OR_RETURN(const auto outputs, session->run(one.values));
    CLVET_RETURN_IF_ERROR(
        write_npy(fmt::format("{}/{}.out.npy", folder, one.name), outputs.begin()->second));
  }
  return {};
}

}  // namespace
}  // namespace clvet

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const auto done = clvet::run(std::span(argv + 1, static_cast<size_t>(argc) - 1));
  if (!done) fmt::print(stderr, "{}\n", done.error().message);
  return done ? 0 : 1;
}
