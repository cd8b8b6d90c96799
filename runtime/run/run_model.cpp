#include "runtime/run/run_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/event.h"
#include "base/numbers.h"
#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/run/doubt.h"
#include "runtime/run/open_network.h"
#include "runtime/run/run_record.h"
#include "runtime/run/steps.h"
#include "runtime/run/warn.h"

namespace clvet {
namespace {

// As many answers as were asked for. The last one, which leaves, agrees with the first. What a
// device can read where it lies is copied there once.
class Repeats {
 public:
  Repeats(OpenNetwork& session, const std::map<std::string, Tensor>& inputs,
          const ModelRunOptions& options)
      : session_(session), inputs_(inputs), options_(options) {}

  Result<Outputs> run() {
    CLVET_ASSIGN_OR_RETURN(first_, session_.run(inputs_));
    begin();
    for (int i = 0; i < options_.repeat && !(options_.stop && options_.stop()); ++i) {
      if (options_.sink && options_.repeat > 1)
        options_.sink({EventLevel::kProgress, "timed runs", i, options_.repeat});
      CLVET_RETURN_IF_ERROR(once_more());
    }
    return session_.settled(inputs_, last_, first_);
  }

  const std::vector<double>& ms() const { return ms_; }
  const std::map<std::string, Tensor>& inputs() const { return inputs_; }

 private:
  void begin() {
    place_ = session_.place();
    last_ = first_;
    ms_.clear();
    if (options_.repeat > 0) std::ranges::for_each(inputs_, [&](auto& row) { share(row); });
  }

  void share(std::pair<const std::string, Tensor>& input) {
    auto& [name, values] = input;
    std::optional<Tensor> shared = session_.lend_input(name);
    if (!shared || shared->type() != values.type() || shared->raw() == values.raw()) return;
    if (values.bytes() > 0) std::memcpy(shared->raw(), values.raw(), values.bytes());
    values = std::move(*shared);
  }

  // Times of one place only, and answers of it alone, are compared.
  Status once_more() {
    const double started = monotonic_seconds();
    CLVET_ASSIGN_OR_RETURN(last_, session_.again(inputs_, last_));
    const double ms = ms_since(started);
    if (session_.place() != place_) {
      first_ = last_;
      begin();
    }
    ms_.push_back(ms);
    return {};
  }

  OpenNetwork& session_;
  std::map<std::string, Tensor> inputs_;
  const ModelRunOptions& options_;
  Outputs first_, last_;
  size_t place_ = 0;
  std::vector<double> ms_;
};

// The answers, and inputs like those of the last of them; how long each but the first took.
struct Answered {
  Outputs outputs;
  std::map<std::string, Tensor> inputs;
  std::vector<double> ms;
  std::vector<std::string> warnings;
};

Result<Answered> answered(OpenNetwork& session, const std::map<std::string, Tensor>& inputs,
                          const ModelRunOptions& options) {
  if (!options.steps) {
    Repeats repeats(session, inputs, options);
    CLVET_ASSIGN_OR_RETURN(Outputs outputs, repeats.run());
    return Answered{std::move(outputs), repeats.inputs(), repeats.ms(), {}};
  }
  CLVET_ASSIGN_OR_RETURN(StepAnswers steps, run_steps(session, inputs, *options.steps));
  Answered answered{std::move(steps.outputs), std::move(steps.inputs), std::move(steps.ms), {}};
  for (const std::string& name : steps.changing)
    answered.warnings.push_back(fmt::format(
        "output '{}' has another shape in each step; that of the last step is given", name));
  return answered;
}

}  // namespace

Result<ModelRun> run_model(Graph graph, const std::map<std::string, Tensor>& inputs,
                           const Report* report, const ModelRunOptions& options) {
  ModelRun result;
  CLVET_ASSIGN_OR_RETURN(result.session, open_network(std::move(graph), report, options));
  OpenNetwork& session = *result.session;
  CLVET_ASSIGN_OR_RETURN(Answered answers, answered(session, inputs, options));
  result.outputs = std::move(answers.outputs);
  const Status timed = options.node_times ? session.time_nodes(answers.inputs) : Status();
  if (options.profile) {
    auto profile = session.profile(answers.inputs);
    if (profile)
      result.profile = std::move(*profile);
    else
      warn(options.sink, result.record.warnings,
           fmt::format("the steps could not be timed: {}", profile.error().message));
  }
  session.note();
  result.record = session.record();
  if (!timed)
    warn(options.sink, result.record.warnings,
         fmt::format("the nodes could not be timed: {}", timed.error().message));
  for (const std::string& text : answers.warnings) warn(options.sink, result.record.warnings, text);
  result.record.samples_ms = answers.ms;
  if (const std::vector<double>& ms = answers.ms; !ms.empty()) {
    result.record.min_ms = *std::ranges::min_element(ms);
    result.record.median_ms = median(ms);
  }
  return result;
}

}  // namespace clvet
