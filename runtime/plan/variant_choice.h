// Which kernel variant runs a call: the fastest that the evidence vouches for.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "probe/report/device_features.h"
#include "probe/report/report.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/evidence.h"
#include "runtime/plan/variant_table.h"

namespace clvet {

struct ChosenVariant {
  const TableRow* row = nullptr;
  KernelCall call;
  double ms = 0;         // predicted, the launch apart; 0: not timed
  double launch_ms = 0;  // of its launch among others
  double bytes = 0;      // that it moves, as they were counted
  // Where the variant that was wanted is not trusted: its name and what the report says of it.
  std::string instead_of;
  Verdict verdict = Verdict::kPass;
  std::string why;
  const Variant& variant() const { return row->variant; }
};

// A call of an op and how it should be stored.
struct WantedCall {
  const std::string& op;
  const Dims& dims;
  const Scalars& scalars;
  Combination combination;
  WeightType type = WeightType::kFloat;  // of the weights, where the op has some
  bool open_weights = false;             // they may lie in buffers or images
};

// A call as what `clvet tune` found is kept under: all that decides what its kernels compute, and
// which of them are rivals. "gemm high/buffer/float K=32 M=8 N=16 W=8 act=0 act_lo=0".
std::string name_of_call(std::string_view op, const Dims& dims, const Scalars& scalars,
                         const Variant& variant);

// Why a variant with that verdict is not used: kUntested, kUnsupported (the device does not have
// what it needs), or kDeviceError (the driver does it wrong).
ErrorCode code_of_refusal(Verdict verdict);
// `why`: what the report says of it in place of the verdict; may be empty.
Error refusal(const std::string& variant, Verdict verdict, const std::string& why);

class VariantChooser {
 public:
  // The device's class ranks variants that were not timed; its limits bound the size of images.
  VariantChooser(std::shared_ptr<const VariantTable> table, DeviceEvidence evidence,
                 DeviceFeatures features);

  // Tries the wanted combination, then other storages (buffers last), then the next higher
  // precisions; within one, the variant that is predicted to be fastest, or one that was measured
  // to be faster than that one at this very call (beats_tuned). Where nothing trusted can run the
  // call the code is that of the variant that was wanted most (code_of_refusal), or kUnavailable
  // where no variant takes the call.
  Result<ChosenVariant> choose(const WantedCall& wanted) const;
  // That variant alone. kNotFound: no such variant; kUnavailable: it does not take the call;
  // code_of_refusal() where it is not trusted.
  Result<ChosenVariant> choose_named(const WantedCall& wanted, const std::string& variant) const;

  // All variants that may run a call in the place of `row`: stored alike, but for the weights where
  // they may lie anywhere, and either trusted or not tried. `row` is the first.
  std::vector<const TableRow*> rivals_of(const WantedCall& wanted, const TableRow& row) const;

  const CostModel& cost() const { return evidence_.cost; }
  const DeviceFeatures& features() const { return features_; }
  const VariantTable& table() const { return *table_; }
  std::shared_ptr<const VariantTable> shared_table() const { return table_; }

 private:
  struct Candidate {
    const TableRow* row = nullptr;
    const VariantEvidence* evidence = nullptr;
    const TunedVariant* tuned = nullptr;  // of the call
    bool tuned_wrong() const;
    bool tuned_right() const;
    bool shown() const { return evidence && evidence->trusted() && !tuned_wrong(); }
    // By its trials, or by a check of its numbers at this very call.
    bool trusted() const;
    Verdict worst() const;
    std::string why() const;
  };
  struct Measured {
    ChosenVariant chosen;
    const TunedVariant* tuned = nullptr;
  };
  // Of one precision and storage: the best that is trusted, and the first that is not.
  struct Group {
    std::optional<ChosenVariant> best;
    Candidate refused;
  };
  Candidate candidate(const TableRow& row, const WantedCall& wanted) const;
  void take_measured(std::vector<Measured> measured, std::optional<ChosenVariant>& best) const;
  std::vector<Candidate> candidates(const WantedCall& wanted) const;
  std::optional<ChosenVariant> best_among(std::vector<ChosenVariant> shown) const;
  Group best_of(const WantedCall& wanted, const std::vector<TensorRole>& roles) const;
  int rank(const TableRow& row) const;
  // nullopt: it does not take the call.
  std::optional<ChosenVariant> as_chosen(const Candidate& candidate, const WantedCall& wanted,
                                         const std::vector<TensorRole>& roles) const;

  std::shared_ptr<const VariantTable> table_;
  DeviceEvidence evidence_;
  DeviceFeatures features_;
};

}  // namespace clvet
