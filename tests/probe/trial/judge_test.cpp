// What the judge says of outputs made by hand, in buffers and in images.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "probe/report/report.h"
#include "probe/trial/cases.h"
#include "probe/trial/judge.h"
#include "probe/trial/material.h"
#include "probe/trial/request.h"
#include "probe/worker/supervisor.h"

namespace clvet {
namespace {

using testing::HasSubstr;

const std::vector<TrialCase>& all_cases() {
  static const Catalog kCatalog = *Catalog::embedded();
  static const std::vector<TrialCase> kCases =
      *plan_cases(kCatalog, {"gpu", true, true, 16384, 16384, {}}, Tier::kCore);
  return kCases;
}

// A case by name, with everything that a trial of it is made of.
struct Trial {
  explicit Trial(const std::string& id) {
    trial = *std::find_if(all_cases().begin(), all_cases().end(),
                          [&](const TrialCase& row) { return row.id == id; });
    MaterialStore store;
    material = *store.get(trial);
    prepared = *prepare_trial(trial, *material);
    for (const TensorRole& row : material->roles) {
      if (row.kind == TensorKind::kOutput) role = row;
    }
  }
  const MemoryRequest& memory() const { return prepared.request.memory[prepared.outputs.at(0)]; }
  // One reading: these values between untouched guards.
  Bytes reading(const Values& values) const {
    const Bytes tensor = encode_activation(role, trial.variant.precision, values);
    if (!memory().image) {
      Bytes out(memory().read_bytes(), std::byte{kSentinel});
      std::copy(tensor.begin(), tensor.end(), out.begin() + static_cast<long>(memory().guard));
      return out;
    }
    Bytes out(memory().read_bytes(), std::byte{kSentinel});
    const auto texel = static_cast<long>(texel_bytes(memory().texel));
    const long row = memory().width * texel,
               pitch = (memory().width + memory().guard_texels) * texel;
    for (long y = 0; y < memory().height; ++y) {
      std::copy_n(tensor.begin() + y * row, row, out.begin() + y * pitch);
    }
    return out;
  }
  Bytes right() const { return reading(material->reference.value); }
  VerdictReport judged(const std::vector<Bytes>& readings) const {
    Bytes outputs;
    for (const Bytes& one : readings) outputs.insert(outputs.end(), one.begin(), one.end());
    VerdictReport verdict = blank_verdict(trial, "d0");
    const std::array readings_of{OutputReadings{memory(), outputs}};
    judge_outputs(trial, *material, static_cast<int>(readings.size()), readings_of, verdict);
    return verdict;
  }
  VerdictReport judged_twice(const Bytes& reading) const { return judged({reading, reading}); }

  TrialCase trial;
  std::shared_ptr<const Material> material;
  PreparedTrial prepared;
  TensorRole role;
};

class JudgeOutputs : public testing::TestWithParam<const char*> {
 protected:
  const Trial t_{GetParam()};
};

TEST_P(JudgeOutputs, CallsTheReferenceItselfRight) {
  const VerdictReport verdict = t_.judged_twice(t_.right());
  EXPECT_EQ(verdict.verdict, Verdict::kPass) << verdict.evidence.note;
  EXPECT_EQ(verdict.repeats, 2);
  EXPECT_EQ(verdict.case_name, t_.trial.id);
  ASSERT_TRUE(verdict.evidence.error);
  EXPECT_EQ(verdict.evidence.error->first_bad, -1);
}

TEST_P(JudgeOutputs, CallsAnUnwrittenOutputWrong) {
  const Bytes untouched(t_.memory().read_bytes(), std::byte{kSentinel});
  const VerdictReport verdict = t_.judged_twice(untouched);
  EXPECT_EQ(verdict.verdict, Verdict::kWrong);
  EXPECT_EQ(verdict.evidence.error->first_bad, 0);
}

TEST_P(JudgeOutputs, CallsOneUnwrittenElementWrong) {
  Bytes reading = t_.right();
  const size_t at = t_.memory().image ? 0 : t_.memory().guard;
  std::fill_n(reading.begin() + static_cast<long>(at), 2, std::byte{kSentinel});
  std::fill_n(reading.begin() + static_cast<long>(at) + 2, 2,
              stores_half(t_.trial.variant.precision) ? reading[at + 2] : std::byte{kSentinel});
  EXPECT_EQ(t_.judged_twice(reading).verdict, Verdict::kWrong);
}

TEST_P(JudgeOutputs, CallsZerosWrong) {
  const VerdictReport verdict =
      t_.judged_twice(t_.reading(Values(t_.material->reference.value.size(), 0)));
  EXPECT_EQ(verdict.verdict, Verdict::kWrong);
  EXPECT_EQ(verdict.stage, Stage::kRead);
  EXPECT_THAT(verdict.evidence.note, HasSubstr("outside the bound"));
}

TEST_P(JudgeOutputs, CallsOneWrongTileWrongAndSaysWhere) {
  Values values = t_.material->reference.value;
  const size_t middle = values.size() / 2;
  for (size_t i = middle; i < std::min(values.size(), middle + 4); ++i) values[i] += 1;
  const VerdictReport verdict = t_.judged_twice(t_.reading(values));
  EXPECT_EQ(verdict.verdict, Verdict::kWrong);
  EXPECT_EQ(verdict.evidence.error->first_bad, static_cast<int64_t>(middle));
}

TEST_P(JudgeOutputs, CallsNanAndInfinityWrong) {
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    Values values = t_.material->reference.value;
    values.back() = bad;
    EXPECT_EQ(t_.judged_twice(t_.reading(values)).verdict, Verdict::kWrong) << bad;
  }
}

TEST_P(JudgeOutputs, CallsATouchedGuardWrongThoughEveryValueIsRight) {
  const Bytes right = t_.right();
  std::vector<size_t> places{right.size() - 1};
  if (!t_.memory().image) {
    const size_t guard = t_.memory().guard;
    places.insert(places.end(), {0, guard - 1, right.size() - guard});
  } else {
    places.push_back(static_cast<size_t>(t_.memory().width) * texel_bytes(t_.memory().texel));
  }
  for (const size_t at : places) {
    Bytes reading = right;
    reading[at] = std::byte{0};
    const VerdictReport verdict = t_.judged_twice(reading);
    EXPECT_EQ(verdict.verdict, Verdict::kWrong) << at;
    EXPECT_THAT(verdict.evidence.note,
                testing::AnyOf(HasSubstr("guard zone"), HasSubstr("outside the output")));
  }
}

TEST_P(JudgeOutputs, CallsTwoRightReadingsThatDifferNondeterministic) {
  Bytes other = t_.right();
  const size_t at = t_.memory().image ? 0 : t_.memory().guard;
  other[at] ^= std::byte{1};  // the last bit of the first value
  const VerdictReport verdict = t_.judged({t_.right(), other});
  EXPECT_EQ(verdict.verdict, Verdict::kNondeterministic) << verdict.evidence.note;
}

TEST_P(JudgeOutputs, CallsARightReadingBeforeAWrongOneNondeterministic) {
  const Bytes zeros = t_.reading(Values(t_.material->reference.value.size(), 0));
  EXPECT_EQ(t_.judged({t_.right(), zeros}).verdict, Verdict::kNondeterministic);
  EXPECT_EQ(t_.judged({zeros, t_.right()}).verdict, Verdict::kWrong);
}

INSTANTIATE_TEST_SUITE_P(Judge, JudgeOutputs,
                         testing::Values("gemm_tile4x4/high/normal/buffer/buffer/float/odd",
                                         "gemm_tile4x4/normal/low/image/buffer/int4/k_tail",
                                         "gemm_tile4x4/low/normal/image/image/float/odd",
                                         "gemv_split/normal/low/buffer/buffer/int8/k_tail"),
                         [](const auto& info) { return "case" + std::to_string(info.index); });

TEST(JudgeOutputsOfOddWidths, CallsADirtyPaddingLaneWrong) {
  const Trial t("gemv_split/high/normal/buffer/buffer/float/odd");
  ASSERT_NE(t.role.c % 4, 0) << "the case must have padding lanes";
  Bytes reading = t.right();
  reading[t.memory().guard + static_cast<size_t>(t.role.c) * 4] = std::byte{1};
  const VerdictReport verdict = t.judged_twice(reading);
  EXPECT_EQ(verdict.verdict, Verdict::kWrong);
  EXPECT_THAT(verdict.evidence.note, HasSubstr("padding"));
}

// Three outputs, two of which are written in part.
class JudgeOutputsOfSeveral : public testing::TestWithParam<Precision> {
 protected:
  void SetUp() override {
    trial_ = *std::find_if(all_cases().begin(), all_cases().end(), [&](const TrialCase& row) {
      return row.variant.manifest->op == "rope" && row.shape->name == "gemma" &&
             row.variant.precision == GetParam();
    });
    MaterialStore store;
    material_ = *store.get(trial_);
    prepared_ = *prepare_trial(trial_, *material_);
    written_ = material_->reference.value;
    size_t next = 0;
    for (const TensorRole& role : material_->roles) {
      if (role.kind != TensorKind::kOutput) continue;
      add_reading(role, next);
      next += static_cast<size_t>(role.elements());
    }
  }
  // As a right kernel leaves the output: guards and rows that are not its own hold the sentinel.
  void add_reading(const TensorRole& role, size_t first) {
    const MemoryRequest& memory = prepared_.request.memory[prepared_.outputs.at(readings_.size())];
    const auto count = static_cast<size_t>(role.elements());
    const Values values(written_.begin() + static_cast<long>(first),
                        written_.begin() + static_cast<long>(first + count));
    const Bytes tensor = encode_activation(role, GetParam(), values);
    const size_t element = tensor.size() / count;
    Bytes reading(memory.read_bytes(), std::byte{kSentinel});
    for (size_t i = 0; i < count; ++i) {
      if (material_->reference.untouched[first + i]) continue;
      std::copy_n(tensor.begin() + static_cast<long>(i * element), element,
                  reading.begin() + static_cast<long>(memory.guard + i * element));
    }
    readings_.push_back(std::move(reading));
    memories_.push_back(memory);
  }
  VerdictReport judged() const {
    std::vector<OutputReadings> outputs;
    for (size_t i = 0; i < readings_.size(); ++i) outputs.push_back({memories_[i], readings_[i]});
    VerdictReport verdict = blank_verdict(trial_, "d0");
    judge_outputs(trial_, *material_, 1, outputs, verdict);
    return verdict;
  }

  TrialCase trial_;
  std::shared_ptr<const Material> material_;
  PreparedTrial prepared_;
  Values written_;
  std::vector<Bytes> readings_;
  std::vector<MemoryRequest> memories_;
};

TEST_P(JudgeOutputsOfSeveral, CallsThemRightWhereTheirOtherRowsAreLeftAlone) {
  const VerdictReport verdict = judged();
  EXPECT_EQ(verdict.verdict, Verdict::kPass) << verdict.evidence.note;
}

TEST_P(JudgeOutputsOfSeveral, CallsAValueWrongThatWasNotTheirsToWrite) {
  readings_[2][memories_[2].guard] = std::byte{0};  // row 0 of v, before P
  const VerdictReport verdict = judged();
  EXPECT_EQ(verdict.verdict, Verdict::kWrong);
}

TEST_P(JudgeOutputsOfSeveral, CallsAnUnwrittenRowWrong) {
  const auto row = static_cast<long>(memories_[1].bytes) / trial_.shape->dims.at("cap");
  const long first = static_cast<long>(memories_[1].guard) + row * trial_.shape->dims.at("P");
  std::fill_n(readings_[1].begin() + first, row, std::byte{kSentinel});
  EXPECT_EQ(judged().verdict, Verdict::kWrong);
}

TEST_P(JudgeOutputsOfSeveral, CallsATouchedGuardOfTheLastWrong) {
  readings_[2].back() = std::byte{0};
  EXPECT_THAT(judged().evidence.note, HasSubstr("guard zone after"));
}

INSTANTIATE_TEST_SUITE_P(Judge, JudgeOutputsOfSeveral,
                         testing::Values(Precision::kHigh, Precision::kNormal),
                         [](const auto& info) { return std::string(to_string(info.param)); });

class JudgeOutcome : public testing::Test {
 protected:
  VerdictReport judged(const Outcome& outcome) const {
    return judge(t_.trial, *t_.material, t_.prepared, outcome, "d0").value();
  }
  static Outcome ended(OutcomeKind kind) {
    Outcome outcome;
    outcome.kind = kind;
    outcome.stage.stage = Stage::kBuild;
    outcome.stage.call = "clBuildProgram";
    outcome.captured = "LLVM ERROR: Cannot select";
    return outcome;
  }
  int readings() const { return t_.prepared.request.readings(); }
  // The right output, as the first `count` of them.
  void fill_readings(int count) const {
    const MemoryRequest& memory = t_.memory();
    const int fd = t_.prepared.fds.at(static_cast<size_t>(memory.fd)).get();
    const Bytes right = t_.right();
    auto mapping = Mapping::of(fd, right.size() * static_cast<size_t>(count), true);
    ASSERT_TRUE(mapping);
    auto at = mapping->bytes().begin();
    for (int i = 0; i < count; ++i) at = std::copy(right.begin(), right.end(), at);
  }
  const Trial t_{"gemv_split/high/normal/buffer/buffer/float/odd"};
};

TEST_F(JudgeOutcome, OfASignalIsACrashWithItsEvidence) {
  Outcome outcome = ended(OutcomeKind::kEnded);
  outcome.exit.signal = 6;
  const VerdictReport verdict = judged(outcome);
  EXPECT_EQ(verdict.verdict, Verdict::kCrash);
  EXPECT_EQ(verdict.stage, Stage::kBuild);
  EXPECT_EQ(verdict.evidence.signal, 6);
  EXPECT_EQ(verdict.evidence.exit_status, std::nullopt);
  EXPECT_EQ(verdict.evidence.call, "clBuildProgram");
  EXPECT_EQ(verdict.evidence.stderr_text, "LLVM ERROR: Cannot select");
}

TEST_F(JudgeOutcome, OfAnyExitStatusIsACrashToo) {
  for (const int status : {0, 1, 255}) {
    Outcome outcome = ended(OutcomeKind::kEnded);
    outcome.exit.exit_status = status;
    EXPECT_EQ(judged(outcome).verdict, Verdict::kCrash);
    EXPECT_EQ(judged(outcome).evidence.exit_status, status);
  }
}

TEST_F(JudgeOutcome, HasAWordForEachWayOfEnding) {
  EXPECT_EQ(judged(ended(OutcomeKind::kHang)).verdict, Verdict::kHang);
  EXPECT_EQ(judged(ended(OutcomeKind::kMemory)).verdict, Verdict::kOutOfMemory);
  EXPECT_EQ(judged(ended(OutcomeKind::kUnreapable)).verdict, Verdict::kDeviceLost);
  EXPECT_EQ(judged(ended(OutcomeKind::kNonsense)).verdict, Verdict::kToolError);
}

TEST_F(JudgeOutcome, OfADriversErrorNamesCallCodeAndLog) {
  Outcome outcome;
  outcome.reply = {{"verdict", "build-error"}, {"stage", "build"},
                   {"call", "clBuildProgram"}, {"cl_error", -11},
                   {"log", "error: no half"},  {"log_bytes", 5e9}};
  const VerdictReport verdict = judged(outcome);
  EXPECT_EQ(verdict.verdict, Verdict::kBuildError);
  EXPECT_EQ(verdict.evidence.cl_error, -11);
  EXPECT_EQ(verdict.evidence.log, "error: no half");
  EXPECT_THAT(verdict.evidence.note, HasSubstr("CL_BUILD_PROGRAM_FAILURE"));
  EXPECT_THAT(verdict.evidence.note, HasSubstr("5000000000"));
}

TEST_F(JudgeOutcome, OfARightOutputInTheSharedMemoryIsAPassWithItsSpeed) {
  fill_readings(readings());
  Outcome outcome;
  outcome.reply = {{"repeats", readings()}, {"median_ms", 0.5},   {"spread_ms", 0.1},
                   {"piped_ms", 0.25},      {"launch_ms", 0.125}, {"piped_launch_ms", -1}};
  outcome.wall_seconds = 1;
  outcome.captured = "a banner";
  const VerdictReport verdict = judged(outcome);
  EXPECT_EQ(verdict.verdict, Verdict::kPass) << verdict.evidence.note;
  EXPECT_GT(verdict.gflops, 0);
  EXPECT_EQ(verdict.piped_ms, 0.25);
  EXPECT_EQ(verdict.launch_ms, 0.125);
  EXPECT_EQ(verdict.piped_launch_ms, std::nullopt);
  EXPECT_EQ(verdict.evidence.stderr_text, "") << "a pass keeps no banner";
}

TEST_F(JudgeOutcome, OfTimedLaunchesThatWroteNothingIsNotFast) {
  ASSERT_GT(readings(), t_.prepared.request.repeats) << "the case is timed";
  fill_readings(readings() - 1);
  Outcome outcome;
  outcome.reply = {{"repeats", readings()}, {"median_ms", 0.01}, {"spread_ms", 0.1}};
  outcome.wall_seconds = 1;
  const VerdictReport verdict = judged(outcome);
  EXPECT_EQ(verdict.verdict, Verdict::kNondeterministic);
  EXPECT_EQ(verdict.median_ms, std::nullopt);
  EXPECT_EQ(verdict.gflops, std::nullopt);
}

TEST_F(JudgeOutcome, OfASpeedThatNoSuchDeviceHasIsALie) {
  VerdictReport verdict = blank_verdict(t_.trial, "d0");
  verdict.verdict = Verdict::kPass;
  verdict.median_ms = verdict.spread_ms = 0.001;
  verdict.gflops = 7.64e4;
  DeviceReport device;
  device.properties["CL_DEVICE_MAX_CLOCK_FREQUENCY"] = {"2500", 0};
  VerdictReport unknown = verdict;
  doubt_times(device, unknown);
  EXPECT_EQ(unknown.verdict, Verdict::kPass) << "nobody knows how many units it has";
  device.properties["CL_DEVICE_MAX_COMPUTE_UNITS"] = {"132", 0};
  VerdictReport large = verdict;
  doubt_times(device, large);
  EXPECT_EQ(large.verdict, Verdict::kPass);
  EXPECT_TRUE(large.gflops);
  device.properties["CL_DEVICE_MAX_COMPUTE_UNITS"] = {"2", 0};
  doubt_times(device, verdict);
  EXPECT_EQ(verdict.verdict, Verdict::kLie);
  EXPECT_EQ(verdict.gflops, std::nullopt);
  EXPECT_EQ(verdict.median_ms, std::nullopt);
  EXPECT_THAT(verdict.evidence.note, HasSubstr("skips launches"));
}

TEST_F(JudgeOutcome, OfALaunchThatTookNoTimeIsNotTimed) {
  fill_readings(readings());
  for (const double median : {0.0, -1.0, std::nan(""), 1001.0}) {
    Outcome outcome;
    outcome.reply = {
        {"repeats", readings()}, {"median_ms", median}, {"spread_ms", 0.1}, {"piped_ms", median}};
    outcome.wall_seconds = 1;
    const VerdictReport verdict = judged(outcome);
    EXPECT_EQ(verdict.verdict, Verdict::kPass);
    EXPECT_EQ(verdict.median_ms, std::nullopt) << median;
    EXPECT_EQ(verdict.spread_ms, std::nullopt) << median;
    EXPECT_EQ(verdict.gflops, std::nullopt) << median;
    EXPECT_EQ(verdict.piped_ms, std::nullopt) << median;
  }
}

TEST_F(JudgeOutcome, BelievesNoWorkerThatSaysItPassed) {
  Outcome outcome;
  for (const char* word : {"pass", "unsupported", "missing", "skipped", "crash"}) {
    outcome.reply = {{"verdict", word}, {"repeats", readings()}};
    EXPECT_EQ(judged(outcome).verdict, Verdict::kToolError) << word;
  }
  outcome.reply = {{"repeats", readings()}, {"error", {{"max_abs", 0}}}, {"ok", true}};
  EXPECT_EQ(judged(outcome).verdict, Verdict::kWrong) << "the outputs were never written";
}

TEST_F(JudgeOutcome, WantsEveryRepeatOfTheCase) {
  Outcome outcome;
  for (const char* text : {"{}", R"({"repeats":1})", R"({"repeats":"2"})", R"({"repeats":5})"}) {
    outcome.reply = nlohmann::json::parse(text);
    EXPECT_EQ(judged(outcome).verdict, Verdict::kToolError) << text;
  }
}

TEST_F(JudgeOutcome, OfAReplyFullOfWrongTypesDoesNotThrow) {
  for (const char* text :
       {R"({})", R"({"verdict":3,"stage":[],"median_ms":"x"})", R"({"verdict":"unknown"})",
        R"({"verdict":"crash","stage":"nowhere","cl_error":"x","log":7})", R"({"fault":1})"}) {
    Outcome outcome;
    outcome.reply = nlohmann::json::parse(text);
    EXPECT_NE(judged(outcome).verdict, Verdict::kPass) << text;
  }
}

TEST_F(JudgeOutcome, KeepsLongOutputBounded) {
  Outcome outcome = ended(OutcomeKind::kHang);
  outcome.captured = std::string(1 << 20, 'x');
  EXPECT_LT(judged(outcome).evidence.stderr_text.size(), 10000u);
}

TEST(CopiesOfWeights, AreAsManyAsNoCacheHoldsWhereTheyAreLargeAndTimed) {
  const auto copies = [](const std::string& id) {
    int most = 0;
    for (const MemoryRequest& memory : Trial(id).prepared.request.memory)
      most = std::max(most, memory.copies);
    return most;
  };
  const std::string fused = "gemv_fused_wide256/high/low/buffer/buffer/int4/";
  EXPECT_EQ(copies(fused + "square"), 21);  // of 8 MiB
  EXPECT_EQ(copies(fused + "qkv"), 1);      // small
  // 2.4 million weights, however many bytes they take: a combination is as warm as another.
  for (const char* type :
       {"low/buffer/buffer/int8", "normal/buffer/buffer/float", "normal/buffer/image/float"})
    EXPECT_EQ(copies(fmt::format("gemv_split/high/{}/large", type)), 1) << type;
}

TEST(CopiesOfWeights, AreLimitedByTheRoomThereIs) {
  TrialRequest request;
  request.memory = {{.bytes = 4096, .copies = 9}, {.bytes = 1024, .copies = 2}, {.bytes = 0}};
  limit_copies(request, 12288);
  const auto copies = [&] {
    std::vector<int> all;
    for (const MemoryRequest& memory : request.memory) all.push_back(memory.copies);
    return all;
  };
  EXPECT_THAT(copies(), testing::ElementsAre(3, 2, 1));
  limit_copies(request, 0);
  EXPECT_THAT(copies(), testing::ElementsAre(1, 1, 1));
}

}  // namespace
}  // namespace clvet
