// What a well-sourced known issue foretells to fail is tried last.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "probe/known_issues/identity.h"
#include "probe/known_issues/known_issues.h"
#include "probe/report/device_features.h"
#include "probe/trial/cases.h"
#include "probe/trial/order.h"

namespace clvet {
namespace {

constexpr const char* kHalfImages = R"({
  "id": "mali-g78-half-image-crash", "title": {"en": "t", "zh": "t"}, "identity": [{"stack": ["mali"], "model": ["G78"]}], "grade": "GRADE",
  "sources": ["https://example.org/"], "constructs": ["half_arith", "image_half"], "check": {"trial": "*"},
  "workaround": {"en": "w", "zh": "w"}, "fixed_in": null, "engines": [],
  "examples": {"match": {}, "no_match": {}}
})";

KnownIssue half_images(const std::string& grade) {
  std::string text = kHalfImages;
  text.replace(text.find("GRADE"), 5, grade);
  auto issue = parse_known_issue({"mali-g78-half-image-crash.json", text});
  EXPECT_TRUE(issue) << issue.error().message;
  return issue.value_or(KnownIssue());
}

std::vector<TrialCase> planned() {
  static const Catalog catalog = *Catalog::embedded();
  DeviceFeatures features;
  features.device_class = "gpu";
  features.fp16 = features.images = true;
  features.image_width = features.image_height = 16384;
  return plan_cases(catalog, features, Tier::kCore).value();
}

DeviceFacts device(const std::string& name) {
  return {"ARM Platform",
          name,
          "ARM",
          "3.0",
          "OpenCL 3.0 v1.r32p1-01eac0.abc",
          "gpu",
          2449604624,
          {},
          {},
          {},
          {},
          {}};
}

std::vector<std::string> ids(const std::vector<TrialCase>& cases) {
  std::vector<std::string> found;
  for (const TrialCase& trial : cases) found.push_back(trial.id);
  return found;
}

bool suspect(const TrialCase& trial) {
  const auto& words = trial.program->constructs;
  return std::count(words.begin(), words.end(), "half_arith") &&
         std::count(words.begin(), words.end(), "image_half");
}

TEST(PutSuspectsLast, MovesTheCasesOfAWellSourcedIssueAndKeepsTheOrderElse) {
  const auto before = planned();
  auto cases = before;
  put_suspects_last({half_images("A")}, device("Mali-G78 r0p1"), cases);
  const auto first = std::find_if(cases.begin(), cases.end(), suspect);
  ASSERT_NE(first, cases.begin());
  ASSERT_NE(first, cases.end());
  EXPECT_TRUE(std::all_of(first, cases.end(), suspect));
  auto wanted = before;
  std::stable_partition(wanted.begin(), wanted.end(),
                        [](const auto& row) { return !suspect(row); });
  EXPECT_EQ(ids(cases), ids(wanted));
}

DeviceFeatures gpu() {
  DeviceFeatures features;
  features.device_class = "gpu";
  features.fp16 = true;
  return features;
}

bool plain(const TrialCase& trial) {
  const Combination own = trial.variant.combination();
  return own.precision == Precision::kHigh && own.activations == Storage::kBuffer &&
         own.memory.value_or(Memory::kNormal) == Memory::kNormal &&
         own.weights.value_or(Storage::kBuffer) == Storage::kBuffer;
}

TEST(PutWorthyFirst, BeginsWithWhatAsksLeastOfTheDevice) {
  auto cases = planned();
  put_worthy_first(gpu(), false, cases);
  auto sorted = ids(cases), all = ids(planned());
  std::sort(sorted.begin(), sorted.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(sorted, all) << "nothing is lost";
  std::set<std::string> ops, first_ops;
  for (const TrialCase& trial : cases) ops.insert(trial.variant.manifest->op);
  size_t first = 0;
  while (first < cases.size() && plain(cases[first]))
    first_ops.insert(cases[first++].variant.manifest->op);
  for (const char* op : {"gemm", "gemv", "softmax", "conv2d", "pool", "eltwise_unary"})
    EXPECT_TRUE(first_ops.contains(op)) << op;
}

TEST(PutWorthyFirst, KeepsTheCasesOfAProgramTogether) {
  auto cases = planned();
  put_worthy_first(gpu(), false, cases);
  std::set<std::string> done;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (i > 0 && cases[i].program->key == cases[i - 1].program->key) continue;
    EXPECT_TRUE(done.insert(cases[i].program->key).second) << cases[i].id;
  }
}

TEST(PutWorthyFirst, InAHurryBeginsWithATestOfEachOp) {
  auto cases = planned();
  put_worthy_first(gpu(), true, cases);
  std::set<std::string> wanted, ops;
  for (const TrialCase& trial : cases) {
    const Manifest& manifest = *trial.variant.manifest;
    if (plain(trial) && manifest.where.empty()) wanted.insert(manifest.op);
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_TRUE(plain(cases[i])) << cases[i].id;
    EXPECT_TRUE(cases[i].variant.manifest->where.empty()) << cases[i].id << " takes every call";
    ops.insert(cases[i].variant.manifest->op);
  }
  EXPECT_EQ(ops, wanted);
  EXPECT_GE(ops.size(), 20u);
}

TEST(PutSuspectsLast, LeavesOtherDevicesAndWeakerSourcesAlone) {
  const auto before = planned();
  auto cases = before;
  put_suspects_last({half_images("A")}, device("Mali-G52"), cases);
  put_suspects_last({half_images("B")}, device("Mali-G78 r0p1"), cases);
  EXPECT_EQ(ids(cases), ids(before));
}

}  // namespace
}  // namespace clvet
