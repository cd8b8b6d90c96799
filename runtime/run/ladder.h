// Where a model goes on after a fault: another kernel variant, a higher precision, plain buffers,
// the host for a node, the host. One ladder for networks and language models.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/plan/plan.h"
#include "runtime/run/doubt.h"
#include "runtime/run/history.h"

namespace clvet {

class Ladder {
 public:
  // `history` and `report` (null: there is only the host) must outlive it.
  Ladder(const History& history, const Report* report, PlanOverrides words, std::string model_key)
      : history_(history), report_(report), words_(words), model_key_(std::move(model_key)) {}

  // What is still to be planned with. The words change where a combination is given up.
  const Report* report() const { return report_; }
  const PlanOverrides& words() const { return words_; }
  PlanOverrides& words() { return words_; }
  bool stepped() const { return rungs_ > 0; }

  // After a fault on `device`, with the combination that was in use: the next rung, kept for the
  // starts to come. False: only the host is left. What could not be kept is told to `warn`.
  bool step_down(const DeviceReport& device, const Combination& used, const Fault& fault,
                 const std::function<void(const std::string&)>& warn);
  // After any other fault of a device: the host.
  void give_up(const std::string& device, const std::string& why);

  // One sentence for all steps since it was asked last, once the answer is there; empty: none.
  // `now`: the combination that gave it; empty: the host did.
  std::string said(const std::optional<Combination>& now);
  const std::vector<Fallback>& steps() const { return steps_; }

 private:
  void tell(const DeviceReport& device, const Combination& used, const Fault& fault,
            const std::function<void(const std::string&)>& warn);

  const History& history_;
  const Report* report_;
  PlanOverrides words_;
  std::string model_key_;
  std::optional<Report> changed_;  // the report, once there is more to say
  int rungs_ = 0;
  std::string first_;  // cause of the first step that was not said yet
  int more_ = 0;
  std::vector<Fallback> steps_;
};

// Why `fault` is not used any more, in one sentence.
std::string cause_of(const DeviceReport& device, const Combination& used, const Fault& fault);

}  // namespace clvet
