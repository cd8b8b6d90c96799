#include "runtime/llm/decoder_plan.h"

#include <gmock/gmock.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "probe/report/report.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/arch.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/decoder_memory.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/next_token.h"
#include "runtime/llm/weights.h"
#include "runtime/plan/launch.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_json.h"
#include "runtime/plan/variant_choice.h"
#include "tests/runtime/gguf/gguf_builder.h"
#include "tests/runtime/llm/model_files.h"
#include "tests/runtime/plan/planning.h"
#include "tests/runtime/reports.h"

namespace clvet {
namespace {

using test::all_pass;
using ::testing::HasSubstr;

// Of one row.
bool is_product(const Variant& variant) { return variant.manifest->op.starts_with("gemv"); }
bool is_fused(const Variant& variant) {
  const std::string& op = variant.manifest->op;
  return op == "gemv_fused" || op == "attention_rope" || op == "attention_qkv";
}

constexpr Combination kLow = {Precision::kHigh, Memory::kLow, Storage::kBuffer, Storage::kBuffer};

class DecoderPlan : public testing::Test {
 protected:
  explicit DecoderPlan(uint64_t vocab = 7, const char* type = "Q8_0")
      : DecoderPlan(test::TinyShape{.vocab = vocab}, type) {}
  DecoderPlan(const test::TinyShape& shape, const char* type)
      : bytes_(test::tiny_model("llama", shape, type).bytes()),
        file_(*test::parse_gguf(bytes_)),
        config_(*load_config(file_)),
        weights_(file_, config_) {}

  void judge(const test::Judge& judge, const test::Limits& limits = {}) {
    chooser_ = test::chooser_that(judge, limits);
  }
  DecoderPlanner planner() const { return {config_, weights_, *chooser_}; }
  Result<ExecutionPlan> plan(const PlanOverrides& words = {}) const {
    return planner().plan(words);
  }
  Result<ExecutionPlan> plan_for(const Combination& combination) const {
    return planner().planned(combination).plan;
  }

  std::string bytes_;
  GgufFile file_;
  LlmConfig config_;
  LlmWeights weights_;
  std::shared_ptr<const VariantChooser> chooser_ = test::chooser_that(all_pass);
};

class DecoderPlanOfFours : public DecoderPlan {
 protected:
  DecoderPlanOfFours() : DecoderPlan(8) {}
  std::string next_token(const test::Limits& limits, Precision precision = Precision::kHigh,
                         const test::Judge& tell = all_pass) {
    judge(tell, limits);
    const auto made = plan({.precision = precision});
    EXPECT_TRUE(made) << made.error().message;
    return made ? made->next_token : "";
  }
};

constexpr const char* kChooses = "next_token_group/high/-/buffer/-/-";

TEST_F(DecoderPlanOfFours, LetsADeviceWithMemoryOfItsOwnChooseTheNextToken) {
  EXPECT_EQ(next_token({.unified = "false"}), kChooses);
  EXPECT_EQ(next_token({.unified = "true"}), "");
  EXPECT_EQ(next_token({.unified = "false"}, Precision::kNormal), "") << "its tables are floats";
}

TEST_F(DecoderPlanOfFours, LetsNoDeviceChooseWhoseKernelIsWrong) {
  const auto judge = [](const Variant& variant) {
    return variant.manifest->op == "next_token" ? Verdict::kWrong : Verdict::kPass;
  };
  EXPECT_EQ(next_token({.unified = "false"}, Precision::kHigh, judge), "");
}

TEST_F(DecoderPlanOfFours, LeavesHalfOfADevicesMemoryToOthers) {
  const auto made = plan_for(kLow);
  ASSERT_TRUE(made);
  const auto needs = planner().memory(kLow, planner().planned(kLow).choices);
  ASSERT_TRUE(needs);
  const int64_t all = 2 * (needs->bytes(first_capacity(kRowsOfAStep)) + next_token_bytes(config_));
  const auto with = [&](int64_t memory) {
    return next_token({.memory = std::to_string(memory), .unified = "false"});
  };
  EXPECT_EQ(with(all), kChooses);
  EXPECT_EQ(with(all - 2), "");
}

TEST_F(DecoderPlan, LetsNoDeviceChooseAmongTokensThatFillNoTexels) {
  judge(all_pass, {.unified = "false"});
  const auto made = plan();
  ASSERT_TRUE(made);
  EXPECT_EQ(made->next_token, "");
}

TEST_F(DecoderPlanOfFours, RefusesAPlanWithAnotherKernelForTheNextToken) {
  judge(all_pass, {.unified = "false"});
  auto made = plan();
  ASSERT_TRUE(made);
  EXPECT_TRUE(planner().check(*made));
  made->next_token = "gather_run/high/-/buffer/-/-";
  const Status checked = planner().check(*made);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("next_token"));
}

TEST_F(DecoderPlan, HasTheCallsOfATokenAndOfAPrompt) {
  const auto made = plan();
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->phases.size(), 2u);
  EXPECT_EQ(made->phases[0].name, "token");
  EXPECT_EQ(made->phases[1].name, "prompt");
  for (const bool answer : {true, false}) {
    const PlanPhase& phase = made->phases[answer ? 0 : 1];
    const auto calls = calls_in(phase, decoder_calls(config_, answer ? 1 : 16, 16, answer));
    ASSERT_EQ(phase.steps.size(), calls.size());
    for (size_t i = 0; i < calls.size(); ++i) {
      const PlanStep& step = phase.steps[i];
      EXPECT_EQ(step.kind, StepKind::kKernel);
      EXPECT_EQ(step.node, static_cast<int>(i));
      EXPECT_EQ(step.op, calls[i].op);
      Dims dims = calls[i].dims;
      for (const char* name : {"cap", "P"}) {
        if (answer && dims.contains(name)) dims[name] = step.dims.at(name);
      }
      EXPECT_EQ(step.dims, dims);
      EXPECT_EQ(step.scalars, calls[i].scalars);
      EXPECT_EQ(phase.nodes[i].name, calls[i].name);
      EXPECT_EQ(phase.nodes[i].place, Place::kDevice);
    }
  }
}

// By the model's own calls: what each argument of each kernel is.
TEST_F(DecoderPlan, GivesEachKernelTheTensorsMatricesAndVectorsOfItsCall) {
  const auto made = plan();
  ASSERT_TRUE(made);
  for (const bool answer : {true, false}) {
    const PlanPhase& phase = made->phases[answer ? 0 : 1];
    const auto calls = calls_in(phase, decoder_calls(config_, answer ? 1 : 16, 16, answer));
    for (size_t i = 0; i < calls.size(); ++i) {
      const PlanStep& step = phase.steps[i];
      const auto launch = launch_of(chooser_->table(), step, step.dims);
      ASSERT_TRUE(launch) << launch.error().message;
      for (const CallArg& arg : launch->call.args) {
        const TensorRole* role = role_of(launch->roles, arg);
        if (!role) continue;
        const std::string& name = calls[i].tensors.at(role->name);
        if (role->kind == TensorKind::kWeights || role->kind == TensorKind::kVector) {
          const auto& recipe =
              made->constants.at(static_cast<size_t>(step.constants.at(role->name)));
          EXPECT_EQ(recipe.name, name);
          EXPECT_EQ(recipe.source == ConstantSource::kMatrix, role->kind == TensorKind::kWeights);
          continue;
        }
        const auto& tensor = made->tensors.at(static_cast<size_t>(step.tensors.at(role->name)));
        EXPECT_EQ(tensor.value, name == "logits" ? "logits.0" : name);
        EXPECT_EQ(tensor.extent.c, role->c) << name;
        EXPECT_EQ(tensor.storage, arg.storage);
        EXPECT_EQ(tensor.half, stores_half(launch->row->variant.precision));
        const bool cache = name.ends_with(".k") || name.ends_with(".v");
        EXPECT_EQ(tensor.rows, name == "logits" ? TensorRows::kFixed
                               : cache          ? TensorRows::kOfText
                                                : TensorRows::kOfStep);
        EXPECT_EQ(tensor.extent.rows(), name == "logits" ? 1 : cache ? 256 : 64) << name;
      }
    }
  }
}

TEST_F(DecoderPlan, KeepsQuantisedMatricesWhereMemoryIsLow) {
  for (const Memory memory : {Memory::kLow, Memory::kNormal}) {
    const auto made = plan({{}, memory, {}, {}});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->combination.memory, memory);
    for (const PlanPhase& phase : made->phases) {
      for (const PlanStep& step : phase.steps) {
        if (step.op != "gemv" && step.op != "gemm") continue;
        EXPECT_EQ(step.variant.ends_with("/int8"), memory == Memory::kLow) << step.variant;
        EXPECT_EQ(step.variant.ends_with("/float"), memory == Memory::kNormal) << step.variant;
      }
    }
  }
}

// A layer: 64 x (64 + 32 + 32), 64 x 64, 64 x 192, 96 x 64; two of them, and 7 rows of 64.
constexpr double kWeights = 2 * (64 * 128 + 64 * 64 + 64 * 192 + 96 * 64) + 7 * 64;

TEST_F(DecoderPlan, CountsTheBytesOfTheWeightsThatATokenReads) {
  const struct {
    Precision precision;
    Memory memory;
    double bytes;
  } rows[] = {{Precision::kHigh, Memory::kNormal, 4},
              {Precision::kNormal, Memory::kNormal, 2},
              {Precision::kHigh, Memory::kLow, 1.25},
              {Precision::kNormal, Memory::kLow, 1.125}};
  for (const auto& row : rows) {
    const auto made = plan({row.precision, row.memory, {}, Storage::kBuffer});
    ASSERT_TRUE(made);
    EXPECT_DOUBLE_EQ(made->bytes, kWeights * row.bytes);
    const auto all = plan();
    for (const RefusedCombination& other : all->refused) {
      if (other.combination.precision != row.precision || other.combination.memory != row.memory) {
        continue;
      }
      EXPECT_DOUBLE_EQ(other.bytes, kWeights * row.bytes);
    }
  }
}

class DecoderPlanOfFourBits : public DecoderPlan {
 protected:
  DecoderPlanOfFourBits() : DecoderPlan(7, "Q4_0") {}
};

TEST_F(DecoderPlanOfFourBits, CountsHalfAByteAWeightAndTheScaleAndOffsetOfEachBlock) {
  const auto made = plan_for(kLow);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_DOUBLE_EQ(made->bytes, kWeights * (0.5 + 2.0 * 4 / 32));
}

// Whether some step of the plan reads the blocks of the file as they are.
bool keeps_blocks(const ExecutionPlan& plan) {
  for (const PlanPhase& phase : plan.phases) {
    for (const PlanStep& step : phase.steps) {
      if (step.variant.ends_with("/q4_0")) return true;
    }
  }
  return false;
}

// All take a millisecond, but products of `type`, which take `ms`.
std::shared_ptr<const VariantChooser> with_products_of(WeightType type, double ms,
                                                       const std::string& missing = "none",
                                                       const test::Limits& limits = {}) {
  const auto told = [=](const Variant& variant, const TestShape&) {
    const bool of_type = variant.weight_type == type;
    const bool left_out = of_type && variant.manifest->op == missing;
    return test::Told{left_out ? Verdict::kMissing : Verdict::kPass, of_type ? ms : 1};
  };
  return test::chooser_of(test::timed_report(test::device_with(limits), told));
}

// With offsets a layer has one launch less, for attention and the product before it: at 0.8 ms a
// product the blocks of the file take a twentieth more.
TEST_F(DecoderPlanOfFourBits, KeepsTheBlocksOfTheFileWhereThatIsPredictedToBeAboutAsFast) {
  for (const auto& [ms, kept] : {std::pair(0.5, true), {0.8, true}, {2.0, false}}) {
    chooser_ = with_products_of(WeightType::kQ4_0, ms);
    const auto made = plan_for(kLow);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(keeps_blocks(*made), kept);
    EXPECT_DOUBLE_EQ(made->bytes, kWeights * (kept ? 0.5 + 2.0 / 32 : 0.5 + 2.0 * 4 / 32));
    EXPECT_TRUE(planner().check(*made));
  }
}

// Memory for the blocks of the file, and for those with offsets: a model may fit only as it is.
TEST_F(DecoderPlanOfFourBits, KeepsTheBlocksOfTheFileWhereNothingElseFits) {
  const auto bytes_with = [&](double ms) {
    chooser_ = with_products_of(WeightType::kQ4_0, ms);
    const auto memory = planner().memory(kLow, planner().planned(kLow).choices);
    return memory->bytes(first_capacity(kRowsOfAStep));
  };
  const int64_t with_offsets = bytes_with(2), as_in_file = bytes_with(0.5);
  ASSERT_LT(as_in_file, with_offsets);
  for (const int64_t room : {as_in_file - 1, as_in_file, with_offsets - 1, with_offsets}) {
    chooser_ = with_products_of(WeightType::kQ4_0, 2, "none", {.memory = std::to_string(room)});
    const auto made = plan_for(kLow);
    ASSERT_EQ(made.has_value(), room >= as_in_file) << room;
    if (made) EXPECT_EQ(keeps_blocks(*made), room < with_offsets) << room;
  }
}

// What would read as few bytes if its kernels were right is counted by the blocks of the file.
TEST_F(DecoderPlanOfFourBits, CountsTheBytesOfRefusedCombinationsAsTheirPlansDo) {
  const auto told = [](const Variant& variant, const TestShape&) {
    const bool broken = variant.precision == Precision::kNormal && is_product(variant);
    const double ms = variant.weight_type == WeightType::kQ4_0 ? 0.5 : 1;
    return test::Told{broken ? Verdict::kWrong : Verdict::kPass, ms};
  };
  chooser_ = test::chooser_of(test::timed_report(test::device_with(), told));
  const auto made = plan({Precision::kHigh, {}, {}, {}});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(keeps_blocks(*made));
  for (const RefusedCombination& row : made->refused) {
    if (row.combination.memory != Memory::kLow) continue;
    EXPECT_EQ(row.combination.weights, Storage::kImage);
    EXPECT_DOUBLE_EQ(row.bytes, kWeights * (0.5 + 2.0 * 4 / 32)) << "kept in images by no kernel";
  }
  const auto all = plan();
  ASSERT_TRUE(all);
  EXPECT_FALSE(avoided_by(*all).empty()) << "normal would read as few bytes";
}

// A prompt and a token share a matrix, which lies in memory once.
TEST_F(DecoderPlanOfFourBits, KeepsNoBlockWhereOneOfItsCallsHasNoKernelForThat) {
  for (const char* op : {"gemm", "gemv_fused"}) {
    chooser_ = with_products_of(WeightType::kQ4_0, 0.5, op);
    const auto made = plan_for(kLow);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_FALSE(keeps_blocks(*made)) << op;
  }
}

TEST_F(DecoderPlan, KeepsNoBlocksThatTheFileDoesNotHave) {
  chooser_ = with_products_of(WeightType::kQ4_0, 0.5);
  auto made = plan_for(kLow);
  ASSERT_TRUE(made);
  EXPECT_FALSE(keeps_blocks(*made));
  for (PlanStep& step : made->phases[0].steps) {
    if (step.op == "gemv_fused")
      step.variant = "gemv_fused_wide256_q4_0/high/low/buffer/buffer/q4_0";
  }
  EXPECT_FALSE(planner().check(*made));
}

TEST_F(DecoderPlan, IsRefusedWhereACallHasNoRightKernelOfItsCombination) {
  judge([](const Variant& variant) {
    const bool int8 = variant.weight_type == WeightType::kInt8;
    return is_product(variant) && int8 ? Verdict::kWrong : Verdict::kPass;
  });
  const auto low = plan_for(kLow);
  ASSERT_FALSE(low);
  EXPECT_EQ(low.error().code, ErrorCode::kDeviceError);
  EXPECT_THAT(low.error().message, HasSubstr("/int8 is wrong"));
  const auto made = plan();
  ASSERT_TRUE(made);
  EXPECT_EQ(made->combination.memory, Memory::kNormal);
}

TEST_F(DecoderPlan, DoesNotTakeAHigherPrecisionThanItSays) {
  judge([](const Variant& variant) {
    return is_product(variant) && stores_half(variant.precision) ? Verdict::kCrash : Verdict::kPass;
  });
  const auto normal =
      plan_for({Precision::kNormal, Memory::kNormal, Storage::kBuffer, Storage::kBuffer});
  ASSERT_FALSE(normal);
  EXPECT_THAT(normal.error().message, HasSubstr("is crash"));
}

// However fast half precision is predicted to be: the answer would be thrown away and taken again.
TEST_F(DecoderPlan, OfAModelWhoseValuesExceedHalfIsOfPrecisionHighUnlessAnotherIsNamed) {
  config_.exceeds_half = true;
  judge([](const Variant& variant) {
    const bool dear = !stores_half(variant.precision) && is_product(variant);
    return dear ? Verdict::kWrong : Verdict::kPass;
  });
  const auto none = plan();
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("gemv"));
  judge(all_pass);
  const auto made = plan();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->combination.precision, Precision::kHigh);
  int left_out = 0;
  for (const RefusedCombination& row : made->refused) {
    if (row.combination.precision == Precision::kHigh) continue;
    ++left_out;
    EXPECT_FALSE(row.runs);
    EXPECT_THAT(row.reason, HasSubstr("exceed the range of half precision"));
  }
  EXPECT_GT(left_out, 0);
  EXPECT_TRUE(avoided_by(*made).empty());
  EXPECT_EQ(plan({.precision = Precision::kNormal})->combination.precision, Precision::kNormal);
}

TEST_F(DecoderPlan, DoesNotTakeAnotherArithmeticOrAnotherStorageOfItsTensors) {
  DeviceReport device = test::device_with();
  device.extensions = {"cl_khr_fp16"};
  const Combination low = {Precision::kLow, Memory::kNormal, Storage::kBuffer, Storage::kBuffer};
  const auto refuse = [&](const std::string& op, bool normal_too) {
    chooser_ = test::chooser_of(test::report_of(device, [&](const Variant& variant) {
      const bool wrong = variant.precision == Precision::kLow ||
                         (normal_too && variant.precision == Precision::kNormal);
      return variant.manifest->op == op && wrong ? Verdict::kWrong : Verdict::kPass;
    }));
    return !plan_for(low);
  };
  EXPECT_FALSE(refuse("none", false));
  EXPECT_TRUE(refuse("gemv", false));
  EXPECT_FALSE(refuse("rms_norm", false)) << "halves as well";
  EXPECT_TRUE(refuse("rms_norm", true));
}

TEST_F(DecoderPlan, ThatFitsNotInTheMemoryIsRefusedInItsWords) {
  judge(all_pass, {.memory = "100000"});
  auto made = plan_for(kLow);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kResourceExhausted);
  EXPECT_THAT(made.error().message, HasSubstr("the device has 100000"));
  judge(all_pass, {.largest = "20000"});
  made = plan_for(kLow);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("in one piece, but the device allows at most 20000"));
  EXPECT_FALSE(plan());
}

TEST_F(DecoderPlan, AddsUpKernelsAndLaunches) {
  DeviceReport device = test::device_with();
  device.peaks.launch_us = 1000;
  device.peaks.piped_launch_us = 100;
  chooser_ = test::chooser_of(test::timed_report(device, [](const Variant&, const TestShape&) {
    return test::Told{Verdict::kPass, 6};
  }));
  const auto made = plan();
  ASSERT_TRUE(made);
  for (const PlanPhase& phase : made->phases) {
    double sum = 0;
    for (size_t i = 0; i < phase.steps.size(); ++i) {
      EXPECT_GT(phase.steps[i].ms, 0);
      EXPECT_NEAR(phase.nodes[i].ms, phase.steps[i].ms + 1, 1e-9);
      sum += phase.steps[i].ms + 0.1;
    }
    EXPECT_NEAR(phase.ms, sum, 1e-9);
  }
}

// A token alone would be a twentieth faster with its weights in buffers.
TEST_F(DecoderPlan, WeighsAPromptToo) {
  const auto with_prompts_of = [&](double prompt_ms) {
    const auto told = [&](const Variant& variant, const TestShape&) {
      const bool image = variant.weights == Storage::kImage;
      const double token_ms = image ? 1.05 : 1;
      const bool prompt = variant.manifest->op == "gemm";
      return test::Told{Verdict::kPass, !prompt ? token_ms : image ? 1 : prompt_ms};
    };
    chooser_ = test::chooser_of(test::timed_report(test::device_with(), told));
    return plan()->combination.weights;
  };
  EXPECT_EQ(with_prompts_of(1), Storage::kBuffer);
  EXPECT_EQ(with_prompts_of(100), Storage::kImage);
}

// Four launches a layer, and one for the head.
TEST_F(DecoderPlan, FusesTheCallsOfATokenWhereTheFusedKernelsAreRight) {
  const auto made = plan_for(kLow);
  ASSERT_TRUE(made) << made.error().message;
  std::vector<std::string> rows;
  for (const PlannedNode& node : made->phases[0].nodes) rows.push_back(node.op + " " + node.name);
  EXPECT_THAT(rows, testing::ElementsAre(
                        "attention_qkv 0.attention", "gemv_fused 0.o", "gemv_fused 0.gate_up",
                        "gemv_fused 0.down", "attention_qkv 1.attention", "gemv_fused 1.o",
                        "gemv_fused 1.gate_up", "gemv_fused 1.down", "gemv_fused head"));
  EXPECT_EQ(made->phases[1].steps.size(), 22u) << "a prompt's products are of matrices";
}

TEST_F(DecoderPlan, LeavesTheCallsApartWhereAFusedKernelIsWrongOrWasNotTried) {
  for (const Verdict verdict : {Verdict::kWrong, Verdict::kCrash, Verdict::kMissing}) {
    judge([&](const Variant& variant) { return is_fused(variant) ? verdict : Verdict::kPass; });
    const auto made = plan_for(kLow);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->phases[0].steps.size(), 2 * 11 + 2u);
  }
  judge([](const Variant& variant) {
    const bool attends = is_fused(variant) && variant.manifest->op != "gemv_fused";
    return attends ? Verdict::kWrong : Verdict::kPass;
  });
  EXPECT_EQ(plan_for(kLow)->phases[0].steps.size(), 2 * 6 + 1u);
  judge([](const Variant& variant) {
    return variant.manifest->op == "attention_qkv" ? Verdict::kWrong : Verdict::kPass;
  });
  EXPECT_EQ(plan_for(kLow)->phases[0].steps.size(), 2 * 5 + 1u);
}

TEST_F(DecoderPlan, FusesWhereTheCallsApartAreWrong) {
  judge([](const Variant& variant) {
    return variant.manifest->op == "gemv" || variant.manifest->op == "rope" ? Verdict::kWrong
                                                                            : Verdict::kPass;
  });
  EXPECT_EQ(plan_for(kLow).error().code, ErrorCode::kDeviceError) << "prompts need rope";
  judge([](const Variant& variant) {
    return variant.manifest->op == "gemv" ? Verdict::kWrong : Verdict::kPass;
  });
  const auto made = plan_for(kLow);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->phases[0].steps.size(), 9u);
}

TEST_F(DecoderPlan, FusesNothingThatIsPredictedToBeSlower) {
  const auto steps_where = [&](double fused_ms, double ms) {
    DeviceReport device = test::device_with();
    device.peaks.launch_us = device.peaks.piped_launch_us = 100;
    chooser_ = test::chooser_of(test::timed_report(device, [&](const Variant& variant, auto&) {
      return test::Told{Verdict::kPass, is_fused(variant) ? fused_ms : ms};
    }));
    return plan_for(kLow)->phases[0].steps.size();
  };
  EXPECT_EQ(steps_where(1, 1), 9u);
  EXPECT_EQ(steps_where(100, 1), 24u);
  EXPECT_EQ(steps_where(0, 1), 24u) << "not timed, where the others are";
  EXPECT_EQ(steps_where(1, 0), 9u);
}

// All four calls apart would cost more, the two that are fused already do not.
TEST_F(DecoderPlan, WeighsACallThatStandsForFourBesideTwoFusedOnes) {
  const auto steps_where = [&](double whole_ms) {
    DeviceReport device = test::device_with();
    device.peaks.launch_us = device.peaks.piped_launch_us = 1;
    chooser_ = test::chooser_of(test::timed_report(device, [&](const Variant& variant, auto&) {
      const bool whole = variant.manifest->op == "attention_qkv";
      return test::Told{Verdict::kPass, whole ? whole_ms : is_fused(variant) ? 1 : 10};
    }));
    return plan_for(kLow)->phases[0].steps.size();
  };
  EXPECT_EQ(steps_where(1.5), 9u);
  EXPECT_EQ(steps_where(2.4), 9u) << "predictions of kernels that take 2 stray by as much";
  EXPECT_EQ(steps_where(2.6), 11u);
  EXPECT_EQ(steps_where(5), 11u);
}

TEST_F(DecoderPlan, OfImagesFusesNoProduct) {
  const auto made = plan_for({Precision::kHigh, Memory::kLow, Storage::kBuffer, Storage::kImage});
  ASSERT_TRUE(made) << made.error().message;
  for (const PlanStep& step : made->phases[0].steps) EXPECT_NE(step.op, "gemv_fused");
}

class DecoderPlanOfLayers : public DecoderPlan {
 protected:
  explicit DecoderPlanOfLayers(const char* type = "Q4_0")
      : DecoderPlan(
            {.layers = 3, .width = 128, .ff = 128, .heads = 2, .kv_heads = 1, .head_dim = 128},
            type) {
    judge_timed(all_pass);
  }
  // Each launch takes a millisecond, that of all layers `ms`.
  void judge_timed(const test::Judge& judge, double ms = 1, const test::Limits& limits = {}) {
    chooser_ = test::chooser_of(test::timed_report(
        test::device_with(limits), [&](const Variant& variant, const TestShape&) {
          return test::Told{judge(variant), is_of_layers(variant) ? ms : 1};
        }));
  }
  static bool is_of_layers(const Variant& variant) {
    return variant.manifest->op == "decoder_layers";
  }
  size_t launches_of_a_token() const { return plan_for(kLow)->phases[0].steps.size(); }
  // With offsets: attention and the product before it, three products, and the head.
  static constexpr size_t kByLayers = 3 * 4 + 1;
};

TEST_F(DecoderPlanOfLayers, RunsAllOfThemInOneLaunch) {
  const auto made = plan_for(kLow);
  ASSERT_TRUE(made) << made.error().message;
  const PlanPhase& token = made->phases[0];
  ASSERT_EQ(token.steps.size(), 2u);
  EXPECT_EQ(token.nodes[0].name, "layers");
  const PlanStep& step = token.steps[0];
  EXPECT_EQ(step.op, "decoder_layers");
  const auto constant = [&](const char* role) {
    return made->constants.at(static_cast<size_t>(step.constants.at(role)));
  };
  EXPECT_EQ(constant("w_gate_up").name, "*.gate_up");
  EXPECT_EQ(constant("w_gate_up").source, ConstantSource::kMatrix);
  EXPECT_EQ(constant("ffn_scale").name, "*.ffn_norm");
  EXPECT_EQ(step.tensors.at("k"), step.tensors.at("new_k"));
  const auto& keys = made->tensors.at(static_cast<size_t>(step.tensors.at("k")));
  EXPECT_EQ(keys.value, "*.k");
  EXPECT_EQ(keys.rows, TensorRows::kOfText);
  EXPECT_EQ(keys.extent.n, 3);
  EXPECT_EQ(keys.extent.h, 256);
  EXPECT_EQ(keys.extent.c, 128);
  EXPECT_EQ(made->phases[1].steps.size(), 33u) << "a prompt goes layer by layer";
  EXPECT_TRUE(planner().check(*made)) << planner().check(*made).error().message;
}

TEST_F(DecoderPlanOfLayers, RunsThemOneByOneWhereTheKernelIsWrongOrSlower) {
  judge_timed(
      [](const Variant& row) { return is_of_layers(row) ? Verdict::kWrong : Verdict::kPass; });
  EXPECT_EQ(launches_of_a_token(), kByLayers);
  for (const auto& [ms, launches] : {std::pair(1.0, size_t{2}), {1000.0, kByLayers}}) {
    judge_timed(all_pass, ms);
    EXPECT_EQ(launches_of_a_token(), launches) << ms;
  }
}

// Keys of 3 layers, of the 256 positions that there is room for at first, and of 128 floats; and
// what is behind any buffer.
TEST_F(DecoderPlanOfLayers, RunsThemOneByOneWhereTheirCachesHaveNoRoomInOneBuffer) {
  for (const auto& [most, launches] :
       {std::pair(3 * 256 * 128 * 4 + 64, size_t{2}), {3 * 256 * 128 * 4 + 63, kByLayers}}) {
    judge_timed(all_pass, 1, {.largest = std::to_string(most)});
    EXPECT_EQ(launches_of_a_token(), launches) << most;
  }
}

TEST_F(DecoderPlanOfLayers, CountsWhatTheLayersShareOnce) {
  const auto memory_of = [&] { return *planner().memory(kLow, planner().planned(kLow).choices); };
  const DecoderMemory together = memory_of();
  // Without attention_qkv what the file has as Q4_0 stays so.
  judge_timed([](const Variant& variant) {
    const bool wrong = is_of_layers(variant) || variant.manifest->op == "attention_qkv";
    return wrong ? Verdict::kWrong : Verdict::kPass;
  });
  const DecoderMemory apart = memory_of();
  EXPECT_EQ(together.cache_bytes(1000), apart.cache_bytes(1000));
  // Each of the 4 matrices and their scales has its slack once, not for each of 3 layers; norms are
  // there as those of all layers, too.
  const auto slack = static_cast<int64_t>(kBufferSlack);
  const int64_t norms = 2 * (3 * 128 * 4 + slack);
  EXPECT_EQ(together.weight_bytes(), apart.weight_bytes() - 2 * 4 * 2 * slack + norms);
  EXPECT_EQ(together.largest(1000).name, "*.k");
}

class DecoderPlanOfLayersOfEightBits : public DecoderPlanOfLayers {
 protected:
  DecoderPlanOfLayersOfEightBits() : DecoderPlanOfLayers("Q8_0") {}
};

TEST_F(DecoderPlanOfLayersOfEightBits, RunsThemOneByOne) {
  // With offsets attention and the product before it are one.
  EXPECT_EQ(launches_of_a_token(), 3 * 4 + 1u);
}

class DecoderPlanWideHead : public DecoderPlan {
 protected:
  DecoderPlanWideHead() : DecoderPlan(150) {}
};

// An image of 18 texels has 64 columns that are whole panels of 16.
TEST_F(DecoderPlanWideHead, HasTheHeadInPartsWhereImagesAreSmall) {
  judge(all_pass, {.image_width = "18"});
  const Combination images = {Precision::kHigh, Memory::kLow, Storage::kBuffer, Storage::kImage};
  const DecoderPlanner made = planner();
  std::vector<std::pair<int64_t, int64_t>> parts;
  const PlannedDecoder planned = made.planned(images);
  for (const DecoderChoice& choice : planned.choices) {
    if (choice.call.matrix() == "head")
      parts.emplace_back(choice.call.first, choice.call.dims.at("N"));
  }
  EXPECT_EQ(parts, (std::vector<std::pair<int64_t, int64_t>>{{0, 64}, {64, 64}, {128, 22}}));
  const auto plan = plan_for(images);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(head_rows_of(*plan), 64);
  std::vector<std::string> logits;
  for (const DeviceTensor& tensor : plan->tensors) {
    if (tensor.rows == TensorRows::kFixed) logits.push_back(tensor.value);
  }
  EXPECT_THAT(logits, testing::ElementsAre("logits.0", "logits.64", "logits.128"));
  const auto whole = plan_for(kLow);
  ASSERT_TRUE(whole);
  EXPECT_EQ(head_rows_of(*whole), 0);
}

TEST_F(DecoderPlanWideHead, MayHaveItInTwoParts) {
  judge(all_pass, {.image_width = "24"});
  const auto plan = plan_for({Precision::kHigh, Memory::kLow, Storage::kBuffer, Storage::kImage});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(head_rows_of(*plan), 96);
}

struct Forgery {
  const char* name;
  std::function<void(ExecutionPlan&)> forge;
};

TEST_F(DecoderPlan, IsAcceptedWhenCheckedAsItIsReadBack) {
  for (const Combination& one : decoder_combinations({})) {
    const auto made = plan_for(one);
    if (!made) continue;
    const auto back = plan_from_json(plan_to_json(*made), "a.json");
    ASSERT_TRUE(back);
    EXPECT_TRUE(*back == *made);
    const Status status = planner().check(*back);
    EXPECT_TRUE(status) << status.error().message;
  }
}

TEST_F(DecoderPlan, ThatDoesNotFollowFromItsVariantsIsRefused) {
  const auto first = [](ExecutionPlan& p, const char* op) -> PlanStep& {
    for (PlanStep& step : p.phases[0].steps) {
      if (step.op == op) return step;
    }
    return p.phases[0].steps[0];
  };
  const auto swap = [&](const char* op, const char* variant) {
    return [=](ExecutionPlan& p) { first(p, op).variant = variant; };
  };
  const std::vector<Forgery> rows = {
      {"no phase", [](ExecutionPlan& p) { p.phases.clear(); }},
      {"one phase", [](ExecutionPlan& p) { p.phases.pop_back(); }},
      {"no steps", [](ExecutionPlan& p) { p.phases[1].steps.clear(); }},
      {"a step less", [](ExecutionPlan& p) { p.phases[0].steps.pop_back(); }},
      {"a step more", [](ExecutionPlan& p) { p.phases[0].steps.push_back(p.phases[0].steps[0]); }},
      {"a node", [](ExecutionPlan& p) { p.phases[0].steps[0].node = INT_MAX; }},
      {"a dim", [](ExecutionPlan& p) { ++p.phases[0].steps[0].dims["M"]; }},
      {"a scalar", [](ExecutionPlan& p) { p.phases[0].steps[0].scalars["epsilon"] = 1; }},
      {"a tensor", [](ExecutionPlan& p) { p.phases[0].steps[0].tensors["x"] = -5; }},
      {"a matrix", [](ExecutionPlan& p) { p.constants[1].name = "1.qkv"; }},
      {"an extent", [](ExecutionPlan& p) { ++p.tensors[2].extent.c; }},
      {"rows", [](ExecutionPlan& p) { p.tensors[2].rows = TensorRows::kOfText; }},
      {"halves", [](ExecutionPlan& p) { p.tensors[2].half = true; }},
      {"an unknown variant", swap("gemv", "gemv_best")},
      {"another op's variant", swap("gemv", "rms_norm_row16/high/-/buffer/-/-")},
      {"another type of weights", swap("gemv", "gemv_col4/high/low/buffer/buffer/int4")},
      {"expanded weights", swap("gemv", "gemv_col4/high/normal/buffer/buffer/float")},
      {"a variant on images", swap("gemv", "gemv_col4/high/low/image/buffer/int8")},
      {"a variant on halves", swap("gemv", "gemv_col4/normal/low/buffer/buffer/int8")},
      {"a norm on halves", swap("rms_norm", "rms_norm_row16/normal/-/buffer/-/-")},
      {"a combination on halves",
       [](ExecutionPlan& p) { p.combination.precision = Precision::kNormal; }},
  };
  for (const bool fused : {true, false}) {
    judge([&](const Variant& variant) {
      return is_fused(variant) && !fused ? Verdict::kMissing : Verdict::kPass;
    });
    for (const Forgery& row : rows) {
      auto made = plan_for(kLow);
      ASSERT_TRUE(made);
      row.forge(*made);
      const Status status = planner().check(*made);
      ASSERT_FALSE(status) << row.name;
      EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument) << row.name;
    }
  }
}

TEST_F(DecoderPlan, OfFusedCallsIsRefusedWhereTheReportDoesNotVouchForThem) {
  const auto made = plan_for(kLow);
  ASSERT_TRUE(made);
  judge([](const Variant& variant) {
    return is_fused(variant) ? Verdict::kMissing : Verdict::kPass;
  });
  EXPECT_FALSE(planner().check(*made));
  const auto apart = plan_for(kLow);
  ASSERT_TRUE(apart);
  judge(all_pass);
  EXPECT_TRUE(planner().check(*apart));
}

TEST_F(DecoderPlan, MayNameAnotherVouchedVariantThatStoresAlike) {
  auto made = plan_for(kLow);
  ASSERT_TRUE(made);
  for (PlanStep& step : made->phases[0].steps) {
    if (step.op != "gemv_fused") continue;
    for (const char* variant : {"gemv_fused_split/high/low/buffer/buffer/int8",
                                "gemv_fused_pair16/high/low/buffer/buffer/int8"}) {
      step.variant = variant;
      const Status status = planner().check(*made);
      EXPECT_TRUE(status) << status.error().message;
    }
  }
}

TEST(AvoidedBy, AreThoseThatWouldReadLessAndAreNotRightTheFewestBytesFirst) {
  ExecutionPlan plan;
  plan.bytes = 100;
  plan.refused = {{{}, "a is wrong", false, 0, 100},
                  {{}, "b is crash", false, 0, 50},
                  {{}, "c runs", true, 5, 10},
                  {{}, "d is wrong", false, 0, 101},
                  {{}, "e is unsupported", false, 0, 1, true},
                  {{}, "f is hang", false, 0, 50}};
  std::vector<std::string> reasons;
  for (const RefusedCombination& row : avoided_by(plan)) reasons.push_back(row.reason);
  EXPECT_THAT(reasons, testing::ElementsAre("b is crash", "f is hang", "a is wrong"));
}

}  // namespace
}  // namespace clvet
