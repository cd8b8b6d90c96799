// A network that is open: it answers, wherever it runs.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/run/doubt.h"
#include "runtime/run/network_options.h"
#include "runtime/run/profile.h"
#include "runtime/run/run_record.h"

namespace clvet {

class OpenNetwork {
 public:
  using Inputs = std::map<std::string, Tensor>;

  virtual ~OpenNetwork() = default;

  // The outputs by name, right as far as is known. The first call, and the first one with inputs of
  // other shapes, chooses the place and plans. Errors: kInvalidArgument (inputs, which are checked
  // by name, type and shape), kNoDevice (selector), kUnavailable (strict and a fallback was needed;
  // the message names it).
  virtual Result<Outputs> run(const Inputs& inputs) = 0;
  // The same for inputs that had the answer `before`, the last one.
  virtual Result<Outputs> again(const Inputs& inputs, const Outputs& before) = 0;
  // `last`, the last answer, where it agrees with `first`, an earlier one to the same inputs of the
  // same place(); another answer where it does not.
  virtual Result<Outputs> settled(const Inputs& inputs, Outputs last, const Outputs& first) = 0;

  // Another number once another plan, device or the host answers.
  virtual size_t place() const = 0;
  // The memory from which a device itself reads the input `name`, for its user to write; runs with
  // this tensor copy nothing. Nothing: there is none such, or none yet, before a first answer.
  virtual std::optional<Tensor> lend_input(const std::string& name) = 0;
  // Fills in how long each node of the plan takes. Its error spoils no answer.
  virtual Status time_nodes(const Inputs& inputs) = 0;
  // The steps of the plan that serves. Its error spoils no answer.
  virtual Result<Profile> profile(const Inputs& inputs) = 0;
  // Keeps for the starts to come what was confirmed.
  virtual void note() = 0;
  // The same of the programs that it was confirmed with. Drivers may take seconds to give them, or
  // die of it: best done once the answer is out.
  virtual void save_programs() = 0;

  virtual const RunRecord& record() const = 0;
  virtual const Graph& graph() const = 0;  // as read, and optimised
};

// `graph` as read from the file; `report` may be null for the host, and must outlive it, but for
// Start::kCpuFirst. Who answers first is as options.start says.
Result<std::unique_ptr<OpenNetwork>> open_network(Graph graph, const Report* report,
                                                  NetworkOptions options);

}  // namespace clvet
