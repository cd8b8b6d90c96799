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
  verb.add_option("--precision", arguments.precision)
      .one_of({"auto", "low", "normal", "high"})
      .shows_default();
  verb.add_option("--memory", arguments.memory, "low: quantised weights stay so on the device")
      .one_of({"auto", "low", "normal"})
      .shows_default();
  verb.add_option("--activations", arguments.activations).one_of(activations).shows_default();
  verb.add_option("--weights", arguments.weights)
      .one_of({"auto", "buffer", "image"})
      .shows_default();
}

void add_plan_option(Verb verb, std::string& file) {
  Option plan = verb.add_option("--plan", file, "execute this plan (clvet plan) and make no other")
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
