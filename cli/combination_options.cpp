#include "cli/combination_options.h"
#include <cstddef>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "cli/options.h"
#include "kernels/combination.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_json.h"

namespace clvet {

PlanOverrides CombinationArguments::overrides() const {
  return {parse_precision(precision), parse_memory(memory), parse_storage(activations),
          parse_storage(weights)};
}

void add_combination(Verb verb, CombinationArguments& arguments,
                     const std::vector<std::string>& activations) {
  verb.add_option("--precision", arguments.precision,
                  "low: half-precision storage and arithmetic; normal: half storage, float\n"
                  "arithmetic; high: float")
      .one_of({"auto", "low", "normal", "high"})
      .shows_default();
  verb.add_option("--memory", arguments.memory,
                  "low: weights stay quantised on the device; normal: half or float")
      .one_of({"auto", "low", "normal"})
      .shows_default();
  verb.add_option("--activations", arguments.activations, "where activations are stored")
      .one_of(activations)
      .shows_default();
  verb.add_option("--weights", arguments.weights, "where weights are stored")
      .one_of({"auto", "buffer", "image"})
      .shows_default();
}

void add_plan_option(Verb verb, std::string& file) {
  Option plan = verb.add_option("--plan", file,
                                "run this plan, which 'clvet plan' wrote, and make no other plan")
                    .type_name("FILE");
  for (const char* word : {"--device", "--precision", "--memory", "--activations", "--weights"}) {
    plan.excludes(word);
  }
}

Result<ExecutionPlan> read_plan(const std::string& file) {
  CLVET_ASSIGN_OR_RETURN(const std::string text, read_file(file, size_t{1} << 28));
  return plan_from_json(text, file);
}

}  // namespace clvet
