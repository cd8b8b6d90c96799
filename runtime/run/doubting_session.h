// A network on a device that is not believed: answers are confirmed by the host, node by node, the
// first time, after that as often as a share of the time allows, and whenever one looks wrong. What
// still looks wrong then is compared with an answer that the host computed alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "runtime/exec/device.h"
#include "runtime/exec/session.h"
#include "runtime/graph/tensor.h"
#include "runtime/run/doubt.h"
#include "runtime/run/history.h"

namespace clvet {

class DoubtingSession {
 public:
  // `rate`: the part of the answers that is checked; empty: what kDefaultShare of the
  // time allows.
  // `rhythm`: what earlier starts left. All references must outlive it.
  DoubtingSession(Session& session, Device& device, std::optional<CheckRhythm> rhythm,
                  std::optional<double> rate)
      : session_(session), device_(device), rhythm_(rhythm), rate_(rate) {}

  // A right answer, as far as is known. After an error fault() says what is to be trusted no more;
  // nothing where neither the driver nor the device is at fault.
  Result<Outputs> run(const std::map<std::string, Tensor>& inputs);
  // The same for inputs that had the answer `before`.
  Result<Outputs> again(const std::map<std::string, Tensor>& inputs, const Outputs& before);

  // Both are answers to `inputs`. An error where they differ by more than rounding.
  Status compare_repeats(const std::map<std::string, Tensor>& inputs, const Outputs& outputs,
                         const Outputs& before);

  const std::optional<Fault>& fault() const { return fault_; }
  const CheckRhythm& rhythm() const { return *rhythm_; }  // once an answer was confirmed
  bool confirmed() const { return rhythm_.has_value(); }
  // Answers that nobody compared, this start's and earlier ones', when the fault was found.
  int64_t unchecked() const { return rhythm_ ? rhythm_->since : 0; }

 private:
  Result<Outputs> unconfirmed(const std::map<std::string, Tensor>& inputs);
  Result<Outputs> confirmed_by_host(const std::map<std::string, Tensor>& inputs);
  Result<Outputs> first(const std::map<std::string, Tensor>& inputs);
  Status settle(const std::map<std::string, Tensor>& inputs, const Outputs& outputs,
                const Outputs& checked);
  Status compare_with_host(const std::map<std::string, Tensor>& inputs, const Outputs& outputs);
  // `outputs` where the host finds each node right and the same outputs come of them.
  Result<Outputs> confirm(const std::map<std::string, Tensor>& inputs, Outputs outputs);
  bool is_right_again(const std::map<std::string, Tensor>& inputs);
  tl::unexpected<Error> fault_found(Fault fault);

  Session& session_;
  Device& device_;
  std::optional<CheckRhythm> rhythm_;
  std::optional<double> rate_;
  std::optional<Fault> fault_;
  double run_ms_ = 0;       // of the last answer
  double checking_ms_ = 0;  // of the last check, beside the steps that it checked
};

}  // namespace clvet
