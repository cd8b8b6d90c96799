// What trials are fed: the memory objects behind the arguments.
#include "probe/trial/material.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/threads.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "probe/trial/cases.h"
#include "probe/trial/request.h"
#include "probe/worker/protocol.h"

namespace clvet {
namespace {

const std::vector<TrialCase>& all_cases() {
  static const Catalog kCatalog = *Catalog::embedded();
  static const std::vector<TrialCase> kCases =
      *plan_cases(kCatalog, {"gpu", true, true, 16384, 16384, {}}, Tier::kFull);
  return kCases;
}

bool is_number(const ArgSpec& arg) {
  return arg.kind == ArgKind::kInt || arg.kind == ArgKind::kFloat;
}

// A descriptor stands beside the request for each.
TEST(MemoryObjects, OfEachTrialFitIntoOneMessage) {
  for (const TrialCase& trial : all_cases()) {
    const auto& args = trial.variant.manifest->args;
    const auto numbers = std::count_if(args.begin(), args.end(), is_number);
    EXPECT_LE(args.size() - static_cast<size_t>(numbers), kMaxMessageFds) << trial.id;
  }
}

bool is_subnormal(double value) {
  return std::fpclassify(static_cast<float>(value)) == FP_SUBNORMAL;
}

// A product with one takes a processor as long as a hundred others: timed trials would measure
// that.
TEST(Inputs, HoldOneSubnormalFloatAtMost) {
  const std::set<std::string> wanted{"gemm/det_body", "conv2d_planes/stem", "depthwise/det_5x5",
                                     "eltwise_unary/relu"};
  std::set<std::string> seen;
  MaterialStore store;
  for (const TrialCase& trial : all_cases()) {
    const std::string name = trial.variant.manifest->op + "/" + trial.shape->name;
    if (!wanted.contains(name) || !seen.insert(name).second) continue;
    const auto material = *store.get(trial);
    const Values& x = material->inputs->tensors.at("x");
    EXPECT_EQ(std::count_if(x.begin(), x.end(), is_subnormal), x.size() > 185 ? 1 : 0) << name;
  }
  EXPECT_EQ(seen, wanted);
}

const TrialCase& case_of(const std::string& id) {
  const auto found = std::ranges::find(all_cases(), id, &TrialCase::id);
  if (found == all_cases().end()) throw std::out_of_range(id);
  return *found;
}

// Two shapes of one program.
const std::string kProgram = "gemm_tile8x32/high/normal/buffer/buffer/float/";

TEST(MaterialStore, MakesOnceWhatSeveralThreadsAskFor) {
  MaterialStore store;
  std::vector<std::shared_ptr<const Material>> made(8);
  in_threads(made.size(), [&](size_t i) {
    made[i] = *store.get(case_of(kProgram + (i % 2 == 0 ? "odd" : "det_body")));
  });
  for (size_t i = 0; i < made.size(); ++i) EXPECT_EQ(made[i], made[i % 2]) << i;
  EXPECT_NE(made[0], made[1]);
}

TEST(MaterialStore, LetsGoWhatIsTooMuchAndMakesTheSameAgain) {
  MaterialStore roomy, narrow(1);
  const TrialCase& odd = case_of(kProgram + "odd");
  const auto kept = *roomy.get(odd), left = *narrow.get(odd);
  const auto ask_both = [&](const std::string& id) {
    (void)*roomy.get(case_of(id)), (void)*narrow.get(case_of(id));
  };
  ask_both("softmax_row/high/-/buffer/-/-/odd");
  EXPECT_EQ(*narrow.get(odd), left) << "one of the two ops that were asked for last";
  ask_both("softmax_row/high/-/buffer/-/-/odd");
  ask_both("layer_norm_row/high/-/buffer/-/-/odd");
  EXPECT_EQ(*roomy.get(odd), kept);
  const auto again = *narrow.get(odd);
  EXPECT_NE(again, left);
  EXPECT_EQ(again->inputs->tensors, left->inputs->tensors);
  EXPECT_EQ(again->reference.value, left->reference.value);
}

// A trial of an op that has several matrices, and a state.
class DecoderTrial : public testing::Test {
 protected:
  void SetUp() override {
    const auto trial = std::find_if(all_cases().begin(), all_cases().end(), [](const auto& row) {
      return row.variant.manifest->id == "decoder_layers_mma64" && row.shape->name == "two";
    });
    ASSERT_NE(trial, all_cases().end());
    manifest_ = trial->variant.manifest;
    MaterialStore store;
    material_ = *store.get(*trial);
    prepared_ = *prepare_trial(*trial, *material_);
  }
  const MemoryRequest& memory(ArgKind kind, const std::string& name) const {
    const auto& args = manifest_->args;
    const auto arg = std::find_if(args.begin(), args.end(), [&](const ArgSpec& row) {
      return row.kind == kind && row.name == name;
    });
    const auto index = static_cast<size_t>(arg - args.begin());
    return prepared_.request.memory.at(
        static_cast<size_t>(prepared_.request.args.at(index).memory));
  }
  // Without its guards.
  Bytes bytes(ArgKind kind, const std::string& name) const {
    const MemoryRequest& object = memory(kind, name);
    const int fd = prepared_.fds.at(static_cast<size_t>(object.fd)).get();
    const Mapping mapping = *Mapping::of(fd, object.read_bytes(), false);
    const auto first = mapping.bytes().begin() + static_cast<ptrdiff_t>(object.guard);
    return {first, first + static_cast<ptrdiff_t>(object.bytes)};
  }

  const Manifest* manifest_ = nullptr;
  std::shared_ptr<const Material> material_;
  PreparedTrial prepared_;
};

TEST_F(DecoderTrial, BeginsWithAStateOfZeros) {
  const Bytes state = bytes(ArgKind::kState, "state");
  EXPECT_GE(state.size(), 2 * sizeof(int));
  EXPECT_THAT(state, testing::Each(std::byte{0}));
}

TEST_F(DecoderTrial, HasTheNumbersAndScalesOfEachMatrixUnderItsName) {
  int matrices = 0;
  for (const TensorRole& role : material_->roles) {
    if (role.kind != TensorKind::kWeights) continue;
    const PackedWeights packed =
        pack_weights(role, Precision::kHigh, WeightType::kQ4_0, Storage::kBuffer, manifest_->pack,
                     material_->inputs->tensors.at(role.name));
    EXPECT_EQ(bytes(ArgKind::kWeights, role.name), packed.data) << role.name;
    EXPECT_EQ(bytes(ArgKind::kScales, role.name), packed.scales) << role.name;
    ++matrices;
  }
  EXPECT_EQ(matrices, 4);
}

}  // namespace
}  // namespace clvet
