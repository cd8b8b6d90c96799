#include "clvet/machine.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>

#include "clvet/clvet_c.h"
#include "clvet/result.h"
#include "runtime/api/c/call.h"
#include "runtime/api/c/tensors.h"
#include "runtime/api/user_calls.h"

namespace clvet::v1::c {
namespace {

Result<ProbeOptions> wanted_by(const clvet_probe_options& given, UserCalls& user_calls) {
  ProbeOptions options;
  if (const Status there = check_array("libraries", given.libraries, given.library_count); !there)
    return there.error();
  for (size_t i = 0; i < given.library_count; ++i) {
    if (!given.libraries[i]) return invalid(fmt::format("library {} is null", i));
    options.libraries.emplace_back(given.libraries[i]);
  }
  options.device = text_or(given.device);
  options.tier = text_or(given.tier, "core");
  options.budget_seconds = given.budget_seconds;
  options.fresh = given.fresh != 0;
  options.if_changed = given.if_changed != 0;
  options.report = text_or(given.report);
  options.state_dir = text_or(given.state_dir);
  options.program = text_or(given.program);
  if (given.progress)
    options.progress = [&user_calls, progress = given.progress,
                        user = given.progress_user](const std::string& line) {
      bool goes_on = false;
      user_calls([&] { goes_on = progress(line.c_str(), user) != 0; });
      return goes_on;
    };
  return options;
}

Status give_report(char** json, const Result<Report>& report) {
  if (!report) return report.error();
  return json ? give_text(json, report->json) : Status{};
}

Status probe(const clvet_probe_options* options, char** json) {
  const auto given = options_of(options);
  if (!given) return given.error();
  UserCalls user_calls("progress");
  const auto wanted = wanted_by(*given, user_calls);
  if (!wanted) return wanted.error();
  const Result<Report> report = v1::probe(*wanted);
  if (Status told = user_calls.take_fault(); !told) return told;
  return give_report(json, report);
}

Status plan(const char* model, const clvet_plan_options* options, char** json) {
  const auto given = options_of(options);
  if (!given) return given.error();
  auto shapes = shapes_of(given->shapes, given->shape_count);
  if (!shapes) return shapes.error();
  return give_text(json, v1::plan(model, {.device = text_or(given->device, "auto"),
                                          .precision = text_or(given->precision, "auto"),
                                          .memory = text_or(given->memory, "auto"),
                                          .report = text_or(given->report),
                                          .state_dir = text_or(given->state_dir),
                                          .shapes = std::move(*shapes)}));
}

}  // namespace
}  // namespace clvet::v1::c

namespace c = clvet::v1::c;

clvet_code clvet_probe(const clvet_probe_options* options, char** json) {
  c::clear(json);
  return c::call(__func__, {}, [&] { return c::probe(options, json); });
}

clvet_code clvet_report_read(const char* file, const char* state_dir, char** json) {
  c::clear(json);
  return c::call(__func__, {{"json", json}}, [&] {
    return c::give_report(json, clvet::v1::read_report(c::text_or(file), c::text_or(state_dir)));
  });
}

clvet_code clvet_plan(const char* model, const clvet_plan_options* options, char** json) {
  c::clear(json);
  return c::call(__func__, {{"model", model}, {"json", json}},
                 [&] { return c::plan(model, options, json); });
}

void clvet_string_free(char* text) { std::free(text); }
