#include "cli/diagnose_place.h"

#include <memory>
#include <string>
#include <utility>

#include "base/event.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"
#include "cli/common_options.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/plan/plan_json.h"
#include "runtime/precision/device/device_place.h"
#include "runtime/precision/device/diagnose_on_device.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/run/history.h"
#include "runtime/run/model_file.h"

namespace clvet {
namespace {

// The plan's file, and that `clvet run` and `clvet generate` are to take it from now on.
// These know a language model by another key than its plan has.
Status save(const DiagnosePlace& place, const std::string& model, const DeviceTarget& target,
            const DeviceDiagnosis& made) {
  if (!made.plan)
    return fail(ErrorCode::kUnavailable,
                "at this precision no plan gives right outputs for all inputs");
  CLVET_RETURN_IF_ERROR(write_file_atomically(place.save_plan, plan_to_json(*made.plan)));
  History::MixedPrecision mixed{.precision = target.precision, .faster = made.faster};
  mixed.residual_scale = made.plan->residual_scale;
  if (made.plan->raised)
    mixed.raised.insert(made.plan->raised->nodes.begin(), made.plan->raised->nodes.end());
  std::string key = target.model_key;
  if (is_gguf(model)) {
    CLVET_ASSIGN_OR_RETURN(key, sha256_of_ends(model));
  }
  return History(target.state_dir).keep_mixed(key, made.plan->subject.environment_key, mixed);
}

}  // namespace

void add_diagnose_place(Verb verb, DiagnosePlace& place) {
  verb.add_option("--precision", place.precision,
                  "low: the host stores values as half after each node; a device also computes in "
                  "half\nnormal: a device stores half and computes in float32\n"
                  "bf16: the host stores values as bfloat16")
      .one_of({"low", "normal", "bf16"})
      .shows_default();
  add_device(verb, place.device);
  add_report(verb, place.report);
  verb.add_option(
          "--save-plan", place.save_plan,
          "with --device: write the plan that is right to this file, and have clvet run and "
          "clvet\ngenerate use it for this model on this device")
      .type_name("FILE");
  add_isolation(verb, place.guard);
}

Status check_diagnose_place(const DiagnosePlace& place, bool naive, bool language_model) {
  const bool host = place.on_host();
  if (host && place.precision == "normal")
    return fail(
        ErrorCode::kInvalidArgument,
        "--precision normal needs a --device: the host computes in float32 in any case, and "
        "low rounds what it stores");
  if (!host && place.precision == "bf16")
    return fail(ErrorCode::kInvalidArgument,
                "--precision bf16 is emulated on the host: leave --device out");
  if (!host && naive && language_model)
    return fail(ErrorCode::kInvalidArgument,
                "--policy naive of a language model is emulated on the host: leave --device out");
  if (!place.save_plan.empty() && (host || naive))
    return fail(
        ErrorCode::kInvalidArgument,
        "--save-plan needs a --device and --policy engine: a plan is for one device, and as "
        "clvet runs the model");
  return {};
}

Result<PrecisionDiagnosis> diagnose_there(const DiagnosePlace& place, const Report& report,
                                          const KeyedModel& model, const EventSink& sink,
                                          const DiagnoseOnDevice& diagnose) {
  const Precision precision = place.precision == "normal" ? Precision::kNormal : Precision::kLow;
  const DeviceTarget target{&report, place.device, precision, model.key, state_dir()};
  CLVET_RETURN_IF_ERROR(check_private(target.state_dir));
  const ProcessGuard process_guard;
  CLVET_ASSIGN_OR_RETURN(DeviceDiagnosis made, diagnose(target));
  // A driver may die when it is released: that is left to the end of the process.
  static const auto* kept = new std::shared_ptr(std::move(made.opened));
  static_cast<void>(kept);
  const Status saved = place.save_plan.empty() ? Status() : save(place, model.path, target, made);
  if (!saved)
    sink({EventLevel::kWarning, fmt::format("the plan was not saved: {}", saved.error().message)});
  return std::move(made.found);
}

}  // namespace clvet
