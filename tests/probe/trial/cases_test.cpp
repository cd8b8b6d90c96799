#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "probe/report/device_features.h"
#include "probe/report/report.h"
#include "probe/trial/cases.h"
#include "tests/probe/samples.h"

namespace clvet {
namespace {

using testing::HasSubstr;

using Need = std::tuple<std::string, Combination, std::optional<WeightType>>;

const Catalog& catalog() {
  static const Catalog kCatalog = *Catalog::embedded();
  return kCatalog;
}

DeviceFeatures everything(const std::string& device_class = "gpu") {
  return {.device_class = device_class,
          .fp16 = true,
          .images = true,
          .image_width = 16384,
          .image_height = 16384,
          .group_items = 1024,
          .names = {"fp16", "subgroups", "dot8", "mma_s8"}};
}

bool is_core(const Manifest& manifest, const std::string& device_class) {
  return std::ranges::count(manifest.core, device_class) > 0;
}

std::vector<TrialCase> plan(const DeviceFeatures& features, Tier tier = Tier::kCore) {
  auto cases = plan_cases(catalog(), features, tier);
  EXPECT_TRUE(cases) << cases.error().message;
  return std::move(*cases);
}

class CorePlan : public testing::TestWithParam<const char*> {};

TEST_P(CorePlan, HasForEveryOpCombinationAndWeightTypeOneVariantThatTakesEveryCall) {
  std::set<Need> wanted;
  for (const Manifest& manifest : catalog().manifests()) {
    const bool asked_for = !manifest.full_tier || is_core(manifest, GetParam());
    if (manifest.trial_only || !asked_for) continue;
    for (const Variant& variant : variants_of(manifest)) {
      wanted.insert({manifest.op, variant.combination(), variant.weight_type});
    }
  }
  std::map<Need, std::map<std::string, const Manifest*>> planned;
  for (const TrialCase& trial : plan(everything(GetParam()))) {
    planned[{trial.variant.manifest->op, trial.variant.combination(), trial.variant.weight_type}]
        .emplace(trial.variant.name(), trial.variant.manifest);
  }
  EXPECT_EQ(planned.size(), wanted.size());
  for (const auto& [need, variants] : planned) {
    EXPECT_TRUE(wanted.contains(need));
    const auto takes_all = [&](const auto& row) {
      return row.second->where.empty() && !is_core(*row.second, GetParam());
    };
    const auto core = std::count_if(variants.begin(), variants.end(), [&](const auto& row) {
      return is_core(*row.second, GetParam());
    });
    EXPECT_EQ(std::count_if(variants.begin(), variants.end(), takes_all), core > 0 ? 0 : 1)
        << variants.begin()->first;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, CorePlan, testing::Values("cpu", "gpu"));

TEST(PlanCases, TakesTheVariantThatRanksFirstOnTheClassOfDevice) {
  std::map<std::string, std::set<std::string>> kernels;
  for (const char* device_class : {"cpu", "gpu"}) {
    for (const TrialCase& trial : plan(everything(device_class))) {
      const auto combination = trial.variant.combination();
      const bool buffers =
          combination.activations == Storage::kBuffer && combination.weights == Storage::kBuffer;
      const bool others_too = trial.variant.precision == Precision::kLow;
      if (trial.variant.manifest->op == "gemm" && buffers && others_too)
        kernels[device_class].insert(trial.variant.manifest->id);
    }
    EXPECT_EQ(kernels[device_class].size(), 1u);
  }
  EXPECT_NE(kernels["cpu"], kernels["gpu"]);
}

TEST(PlanCases, TakesWhatIsForTheCoreTierOfAClassBesideTheVariantThatRanksFirst) {
  const auto products = [](const DeviceFeatures& features) {
    std::set<std::string> kernels;
    for (const TrialCase& trial : plan(features)) {
      if (trial.variant.manifest->op == "gemm" &&
          trial.variant.name().ends_with("/high/normal/buffer/buffer/float"))
        kernels.insert(trial.variant.manifest->id);
    }
    return kernels;
  };
  EXPECT_THAT(products(everything("gpu")),
              testing::ElementsAre("gemm_layers16", "gemm_layers8", "gemm_local16", "gemm_local32",
                                   "gemm_local64", "gemm_tile4x4"));
  EXPECT_THAT(products(everything("cpu")), testing::ElementsAre("gemm_tile7x32", "gemm_tile8x32"));
}

TEST(PlanCases, TriesOfImagesOnAProcessorOnlyWhatTakesEveryCall) {
  const auto kernels = [](const std::string& device_class, Tier tier, const std::string& storage) {
    std::set<std::string> names;
    for (const TrialCase& trial : plan(everything(device_class), tier)) {
      if (trial.variant.name().ends_with("/high/normal/" + storage + "/float") &&
          trial.variant.manifest->op == "conv2d_group")
        names.insert(trial.variant.manifest->id);
    }
    return names;
  };
  using Names = std::set<std::string>;
  const Names lane{"conv2d_group_lane"}, both{"conv2d_group_lane", "conv2d_group_tile4x4"};
  for (const auto* image : {"image/buffer", "buffer/image", "image/image"}) {
    EXPECT_EQ(kernels("cpu", Tier::kCore, image), lane) << image;
    EXPECT_EQ(kernels("cpu", Tier::kFull, image), both) << image;
    EXPECT_EQ(kernels("gpu", Tier::kCore, image), both) << image;
  }
  EXPECT_GT(kernels("cpu", Tier::kCore, "buffer/buffer").size(), 1U);
}

// What a processor computes by one kernel, or by others.
TEST(PlanCases, TakesNoKernelOfAnOpForProcessorsThatOnlyPlansForGpusHave) {
  std::map<std::string, std::set<std::string>> ops;
  for (const char* device_class : {"cpu", "gpu"}) {
    for (const TrialCase& trial : plan(everything(device_class)))
      ops[device_class].insert(trial.variant.manifest->op);
  }
  for (const char* op : {"winograd_in", "gemm_batch", "winograd_out", "conv2d_branches"}) {
    EXPECT_TRUE(ops["gpu"].contains(op)) << op;
    EXPECT_FALSE(ops["cpu"].contains(op)) << op;
  }
  EXPECT_TRUE(ops["cpu"].contains("winograd"));
}

TEST(PlanCases, DoesNotAskForMoreLocalMemoryThanThereIs) {
  DeviceFeatures features = everything();
  features.local_bytes = 16 << 10;
  for (const TrialCase& trial : plan(features)) {
    EXPECT_NE(trial.variant.manifest->id, "gemm_local16") << "others are for all calls";
  }
  for (const TrialCase& trial : plan(features, Tier::kFull)) {
    if (trial.variant.manifest->id != "gemm_local16") continue;
    EXPECT_EQ(trial.unsupported, "its 24576 bytes of local memory exceed the device's 16384");
    return;
  }
  ADD_FAILURE() << "no case of gemm_local16";
}

TEST(PlanCases, TriesEveryShapeOfAVariantUnderAUniqueNameAndTimesTwoToFive) {
  std::set<std::string> ids;
  std::map<std::string, int> shapes, timed;
  std::map<std::string, size_t> tests;
  for (const TrialCase& trial : plan(everything())) {
    EXPECT_TRUE(ids.insert(trial.id).second) << trial.id;
    ++shapes[trial.variant.name()];
    timed[trial.variant.name()] += trial.timed;
    tests[trial.variant.name()] = trial.variant.manifest->tests.size();
  }
  for (const auto& [name, count] : shapes) {
    EXPECT_EQ(static_cast<size_t>(count), tests[name]) << name;
    EXPECT_GE(count, 3) << name;
    EXPECT_GE(timed[name], 2) << name;
    EXPECT_LE(timed[name], 5) << name;
  }
}

TEST(TimedShapes, AreThoseOfLeastMiddleAndMostWork) {
  using Shapes = std::vector<size_t>;
  EXPECT_EQ(timed_shapes({70, 1, 10000, 300, 2}), (Shapes{0, 1, 2}));
  EXPECT_EQ(timed_shapes({5, 1, 4000, 63}), (Shapes{1, 2, 3}));
  EXPECT_EQ(timed_shapes({2, 1}), (Shapes{0, 1}));
}

TEST(TimedShapes, AreNeverTwoOfOneWorkNorOneThatIsNotTried) {
  using Shapes = std::vector<size_t>;
  EXPECT_EQ(timed_shapes({8, 8, 8}), Shapes{0});
  EXPECT_EQ(timed_shapes({8, 8, 1, 1}), (Shapes{0, 2}));
  EXPECT_EQ(timed_shapes({0, 4, 0, 9}), (Shapes{1, 3}));
  EXPECT_EQ(timed_shapes({0, 0}), Shapes{});
  EXPECT_EQ(timed_shapes({}), Shapes{});
}

TEST(TimedShapes, AreThoseThatTheManifestNames) {
  std::set<std::string> timed;
  for (const TrialCase& trial : plan(everything())) {
    if (trial.timed && trial.variant.manifest->id == "conv2d_tile4x4")
      timed.insert(trial.shape->name);
  }
  EXPECT_EQ(timed, (std::set<std::string>{"body", "deep", "det_fpn", "large", "odd"}));
}

TEST(TimedShapes, AreTheTwoOfLeastWorkWhereTheCoreTierUsesImagesOnAProcessor) {
  const auto timed = [](const std::string& device_class, Tier tier, const std::string& variant) {
    std::set<std::string> names;
    for (const TrialCase& trial : plan(everything(device_class), tier)) {
      if (trial.timed && trial.variant.name() == variant) names.insert(trial.shape->name);
    }
    return names;
  };
  using Names = std::set<std::string>;
  const Names least{"odd", "body"}, all{"body", "deep", "det_fpn", "large", "odd"};
  for (const auto* image : {"image/buffer", "buffer/image", "image/image"}) {
    const std::string variant = fmt::format("conv2d_tile4x4/high/normal/{}/float", image);
    EXPECT_EQ(timed("cpu", Tier::kCore, variant), least) << image;
    EXPECT_EQ(timed("cpu", Tier::kFull, variant), all) << image;
    EXPECT_EQ(timed("gpu", Tier::kCore, variant), all) << image;
  }
  const std::string buffers = "conv2d_tile8x32/high/normal/buffer/buffer/float";
  EXPECT_EQ(timed("cpu", Tier::kCore, buffers).size(), 5U);
}

TEST(TimedShapes, LeaveOutThoseThatExceedTheImageLimits) {
  DeviceFeatures features = everything();
  features.image_width = features.image_height = 64;
  std::map<std::string, int> timed;
  for (const TrialCase& trial : plan(features)) {
    if (trial.timed) {
      EXPECT_EQ(trial.unsupported, "") << trial.id;
    }
    timed[trial.variant.manifest->op] += trial.timed;
  }
  EXPECT_GT(timed["gemm"], 0);
}

TEST(PlanCases, HoldsNoShapeThatImagesOf8192TexelsAreTooSmallFor) {
  DeviceFeatures features = everything();
  features.image_width = features.image_height = 8192;
  for (const TrialCase& trial : plan(features, Tier::kFull)) {
    EXPECT_EQ(trial.unsupported, "") << trial.id;
  }
}

TEST(PlanCases, KeepsCasesOfOneProgramTogether) {
  std::set<std::string> ended;
  std::string current;
  for (const TrialCase& trial : plan(everything(), Tier::kFull)) {
    if (trial.program->key == current) continue;
    EXPECT_FALSE(ended.contains(trial.program->key)) << trial.id;
    ended.insert(current);
    current = trial.program->key;
  }
}

TEST(PlanCases, OfTheFullTierHoldsEveryVariant) {
  std::set<std::string> planned;
  for (const TrialCase& trial : plan(everything(), Tier::kFull))
    planned.insert(trial.variant.name());
  size_t variants = 0;
  for (const Manifest& manifest : catalog().manifests()) variants += variants_of(manifest).size();
  EXPECT_EQ(planned.size(), variants);
}

TEST(PlanCases, MarksLowPrecisionUnsupportedWithoutFp16AndNothingElse) {
  DeviceFeatures features = everything();
  features.fp16 = false;
  int low = 0;
  for (const TrialCase& trial : plan(features)) {
    const bool is_low = trial.variant.precision == Precision::kLow;
    low += is_low;
    EXPECT_EQ(!trial.unsupported.empty(), is_low) << trial.id;
    if (is_low) {
      EXPECT_THAT(trial.unsupported, HasSubstr("cl_khr_fp16"));
    }
  }
  EXPECT_GT(low, 0);
}

TEST(PlanCases, MarksImagesUnsupportedWithoutImageSupport) {
  DeviceFeatures features = everything();
  features.images = false;
  for (const TrialCase& trial : plan(features)) {
    const bool image =
        trial.variant.activations == Storage::kImage || trial.variant.weights == Storage::kImage;
    EXPECT_EQ(!trial.unsupported.empty(), image) << trial.id;
    if (image) {
      EXPECT_THAT(trial.unsupported, HasSubstr("CL_DEVICE_IMAGE_SUPPORT"));
    }
  }
}

TEST(PlanCases, MarksOnlyTheShapesThatExceedTheImageLimits) {
  DeviceFeatures features = everything();
  features.image_width = features.image_height = 64;
  int fits = 0, exceeds = 0;
  for (const TrialCase& trial : plan(features)) {
    if (trial.variant.activations != Storage::kImage) {
      EXPECT_EQ(trial.unsupported, "") << trial.id;
      continue;
    }
    ++(trial.unsupported.empty() ? fits : exceeds);
    if (!trial.unsupported.empty()) {
      EXPECT_THAT(trial.unsupported, HasSubstr("64x64"));
    }
  }
  EXPECT_GT(fits, 0);
  EXPECT_GT(exceeds, 0);
}

TEST(PlanCases, TriesNoKernelWhoseGroupsWaitForEachOtherWhereTheyCannotRunAtOnce) {
  DeviceFeatures features = everything();
  for (const auto& [units, reason] :
       {std::pair(int64_t{108},
                  "132 of its groups must run at once, each on a compute unit, but the "
                  "device has 108"),
        {132, ""},
        {0, ""}}) {
    features.compute_units = units;
    int of_layers = 0;
    for (const TrialCase& trial : plan(features, Tier::kFull)) {
      if (trial.variant.manifest->id != "decoder_layers_mma512") continue;
      EXPECT_EQ(trial.unsupported, reason) << units;
      ++of_layers;
    }
    EXPECT_GT(of_layers, 0);
  }
}

TEST(PlanCases, LeavesGroupsLargerThanTheDevicesToAKernelOfSmallerOnes) {
  DeviceFeatures features = everything();
  features.group_items = 128;
  std::set<std::string> tried;
  for (const TrialCase& trial : plan(features)) {
    EXPECT_EQ(trial.unsupported, "") << trial.id;
    if (trial.variant.manifest->op == "attention") tried.insert(trial.variant.manifest->id);
  }
  EXPECT_EQ(tried, (std::set<std::string>{"attention_group64", "attention_tile4"}));
  int large = 0;
  for (const TrialCase& trial : plan(features, Tier::kFull)) {
    if (trial.variant.manifest->id != "attention_group256") continue;
    ++large;
    EXPECT_THAT(trial.unsupported, HasSubstr("groups of 256 items exceed the device's 128"));
  }
  EXPECT_GT(large, 0);
}

TEST(FeaturesOf, ReadsWhatTheDeviceAdvertises) {
  DeviceReport device = test::sample_device();
  device.properties["CL_DEVICE_MAX_WORK_GROUP_SIZE"] = {"512", 0};
  DeviceFeatures features = features_of(device);
  EXPECT_TRUE(features.fp16);
  EXPECT_TRUE(features.images);
  EXPECT_EQ(features.image_width, 16384);
  EXPECT_EQ(features.group_items, 512);
  EXPECT_EQ(features.device_class, "gpu");
  device.extensions = {"cl_khr_fp16_almost"};
  device.properties = {{"CL_DEVICE_IMAGE2D_MAX_WIDTH", {"", -30}}};
  device.type = "cpu";
  features = features_of(device);
  EXPECT_FALSE(features.fp16);
  EXPECT_FALSE(features.images);
  EXPECT_EQ(features.image_width, 0);
  EXPECT_EQ(features.device_class, "cpu");
}

TEST(FeaturesOf, HasTheMatrixUnitOfNvidiaFromCapability8On) {
  const auto has_unit = [](const PropertyValue& major) {
    DeviceReport device = test::sample_device();
    device.properties["CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV"] = major;
    const std::vector<std::string> names = features_of(device).names;
    return std::find(names.begin(), names.end(), "mma_s8") != names.end();
  };
  EXPECT_TRUE(has_unit({"9", 0}));
  EXPECT_TRUE(has_unit({"8", 0}));
  EXPECT_FALSE(has_unit({"7", 0}));
  EXPECT_FALSE(has_unit({"", -30}));
}

std::vector<std::string> kept(const std::vector<std::string>& patterns) {
  auto cases = plan(everything());
  keep_cases(patterns, cases);
  std::vector<std::string> ids;
  for (const TrialCase& trial : cases) ids.push_back(trial.id);
  return ids;
}

TEST(KeepCases, KeepsNamesThatContainAPattern) {
  EXPECT_EQ(kept({}).size(), plan(everything()).size());
  for (const std::string& id : kept({"gemv_split/low"}))
    EXPECT_THAT(id, HasSubstr("gemv_split/low"));
  EXPECT_EQ(kept({"gemv_split/low", "gemv_split/high"}).size(),
            2 * kept({"gemv_split/low"}).size());
  EXPECT_THAT(kept({"no such case"}), testing::IsEmpty());
}

TEST(KeepCases, TakesAStarForAnyText) {
  const auto ids = kept({"gemv_split/*/int4/odd"});
  EXPECT_EQ(ids.size(), 12u);
  for (const std::string& id : ids) EXPECT_TRUE(id.ends_with("/int4/odd")) << id;
}

}  // namespace
}  // namespace clvet
