#include "cli/combination_options.h"

#include <CLI/CLI.hpp>

#include "base/file.h"
#include "runtime/plan/plan_json.h"

namespace clvet {

PlanOverrides CombinationArguments::overrides() const {
  return {parse_precision(precision), parse_memory(memory), parse_storage(activations),
          parse_storage(weights)};
}

void add_combination(CLI::App& verb, CombinationArguments& arguments,
                     const std::vector<std::string>& activations) {
  verb.add_option("--precision", arguments.precision)
      ->check(CLI::IsMember({"auto", "low", "normal", "high"}))
      ->capture_default_str();
  verb.add_option("--memory", arguments.memory, "low: quantised weights stay so on the device")
      ->check(CLI::IsMember({"auto", "low", "normal"}))
      ->capture_default_str();
  verb.add_option("--activations", arguments.activations)
      ->check(CLI::IsMember(activations))
      ->capture_default_str();
  verb.add_option("--weights", arguments.weights)
      ->check(CLI::IsMember({"auto", "buffer", "image"}))
      ->capture_default_str();
}

void add_plan_option(CLI::App& verb, std::string& file) {
  auto* plan = verb.add_option("--plan", file, "execute this plan (clvet plan) and make no other")
                   ->type_name("FILE");
  for (const char* word : {"--device", "--precision", "--memory", "--activations", "--weights"}) {
    plan->excludes(verb.get_option(word));
  }
}

Result<ExecutionPlan> read_plan(const std::string& file) {
  CLVET_ASSIGN_OR_RETURN(const std::string text, read_file(file, size_t{1} << 28));
  return plan_from_json(text, file);
}

}  // namespace clvet
