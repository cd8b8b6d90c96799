// A language model on devices that fail, in this process: where it goes on, and what it says.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/llm/arch.h"
#include "runtime/llm/decoder_memory.h"
#include "runtime/llm/decoder_plan.h"
#include "runtime/llm/host_decoder.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/next_token.h"
#include "runtime/llm/token_feed.h"
#include "runtime/plan/device_choice.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_table.h"
#include "runtime/run/history.h"
#include "runtime/run/language_session.h"
#include "tests/runtime/fake/fake_board.h"
#include "tests/runtime/gguf/gguf_builder.h"
#include "tests/runtime/llm/model_files.h"
#include "tests/runtime/plan/planning.h"
#include "tests/runtime/reports.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// What fails while a file of this name is in the folder; "once" at the first call alone.
constexpr char kScenario[] = R"({
  "device": {"platform_name": "Boards", "name": "Board", "driver_version": "1"},
  "rules": [
    {"match": {"call": "clEnqueueNDRangeKernel", "file_exists": "$FAKE_CL_STATE/launch"},
     "do": {"action": "error", "code": "CL_OUT_OF_RESOURCES"}},
    {"match": {"call": "clEnqueueNDRangeKernel", "file_exists": "$FAKE_CL_STATE/once"},
     "do": {"action": "error", "code": "CL_OUT_OF_RESOURCES", "once_file": "$FAKE_CL_STATE/done"}},
    {"match": {"call": "clEnqueueMapBuffer", "file_exists": "$FAKE_CL_STATE/map"},
     "do": {"action": "error", "code": "CL_MAP_FAILURE"}},
    {"match": {"call": "clEnqueueReadBuffer", "file_exists": "$FAKE_CL_STATE/map"},
     "do": {"action": "error", "code": "CL_OUT_OF_HOST_MEMORY"}},
    {"match": {"call": "clEnqueueMapBuffer", "file_exists": "$FAKE_CL_STATE/stale"}, "do": {"action": "stale"}},
    {"match": {"call": "clEnqueueMapBuffer", "file_exists": "$FAKE_CL_STATE/null"}, "do": {"action": "null_success"}},
    {"match": {"call": "clEnqueueMapBuffer", "file_exists": "$FAKE_CL_STATE/unmapped"},
     "do": {"action": "error", "code": "CL_MAP_FAILURE"}},
    {"match": {"call": "clEnqueueReadBuffer", "file_exists": "$FAKE_CL_STATE/lost"}, "do": {"action": "lost"}},
    {"match": {"call": "clCreateBuffer", "file_exists": "$FAKE_CL_STATE/room"},
     "do": {"action": "error", "code": "CL_MEM_OBJECT_ALLOCATION_FAILURE"}},
    {"match": {"call": "clBuildProgram", "file_exists": "$FAKE_CL_STATE/build"},
     "do": {"action": "build_error", "code": -11, "log": "no"}},
    {"match": {"call": "clEnqueueNDRangeKernel", "file_exists": "$FAKE_CL_STATE/skip"}, "do": {"action": "skip"}},
    {"match": {"call": "clEnqueueNDRangeKernel", "file_exists": "$FAKE_CL_STATE/slow"},
     "do": {"action": "delay", "ms": 5}},
    {"match": {"call": "clEnqueueNDRangeKernel", "kernel": "^gemv_fused", "file_exists": "$FAKE_CL_STATE/tile"},
     "do": {"action": "wrong_tile", "offset": 0, "bytes": 64}},
    {"match": {"call": "clEnqueueNDRangeKernel", "kernel": "^next_token", "file_exists": "$FAKE_CL_STATE/choice"},
     "do": {"action": "wrong_tile", "offset": 0, "bytes": 16}},
    {"match": {"call": ["clSetKernelArg", "clEnqueue*", "clFinish", "clFlush", "clWaitForEvents"],
               "file_exists": "$FAKE_CL_STATE/count"},
     "do": {"action": "delay", "ms": 0}}]})";

class Driver : public test::FakeBoard {
 public:
  explicit Driver(const std::string& target = "none") : FakeBoard(kScenario, target) {}
  void fail(const std::string& what) const { put(what); }
};

// A model, the session that runs it, and what the host says.
class Talk {
 public:
  explicit Talk(const test::GgufBuilder& builder)
      : bytes_(builder.bytes()),
        file_(*test::parse_gguf(bytes_)),
        config_(*load_config(file_)),
        weights_(file_, config_) {}

  Status open(const Report& report, LanguageOptions options = {}) {
    report_ = report;
    CLVET_ASSIGN_OR_RETURN(session_,
                           LanguageSession::open(file_, config_, &report_, std::move(options)));
    return {};
  }
  // A start before has confirmed a token's answers here, in a time that is not known: none of them
  // comes too soon (history.h) and is looked at again, however busy the machine is.
  Status open_confirmed(const Report& report, LanguageOptions options) {
    options.state_dir = state_.path();
    CLVET_RETURN_IF_ERROR(open(report, options));
    const ExecutionPlan& plan = session_->plan();
    CLVET_RETURN_IF_ERROR(
        History(options.state_dir)
            .keep({{History::key_of(plan) + " 1 answer", CheckRhythm{.every = 1000}}},
                  plan.subject.environment_key));
    return open(report, std::move(options));
  }
  const LanguageRecord& record() const { return session_->record(); }
  const LlmWeights& weights() const { return weights_; }
  const LlmConfig& config() const { return config_; }
  const Report& report() const { return report_; }

  std::vector<std::string> variants() const {
    std::vector<std::string> names;
    for (const PlanPhase& phase : session_->plan().phases) {
      for (const PlanStep& step : phase.steps) names.push_back(step.variant);
    }
    return names;
  }

  // How far the session's logits behind `tokens` more are from the host's, relative to the largest.
  double distance(const std::vector<int32_t>& tokens) {
    const auto logits = session_->take(tokens);
    EXPECT_TRUE(logits) << logits.error().message;
    text_.insert(text_.end(), tokens.begin(), tokens.end());
    if (logits) {
      best_ = static_cast<int32_t>(std::ranges::max_element(*logits) - logits->begin());
    }
    const auto host = HostDecoder::create(config_, weights_, 8);
    const auto wanted = TokenFeed(**host, config_, weights_, 8).take(text_);
    double largest = 0, worst = 0;
    for (size_t i = 0; logits && i < wanted->size(); ++i) {
      largest = std::max<double>(largest, std::fabs((*wanted)[i]));
      worst = std::max<double>(worst, std::fabs((*logits)[i] - (*wanted)[i]));
    }
    EXPECT_GT(largest, 0.1);
    return logits ? worst / largest : INFINITY;
  }
  // The token behind `tokens`, whose logits are the host's.
  int32_t best_behind(const std::vector<int32_t>& tokens) {
    EXPECT_LT(distance(tokens), 1e-4);
    return best_;
  }
  void expect_greedy(bool greedy) { session_->expect_greedy(greedy); }
  Error fault(const std::vector<int32_t>& tokens) {
    const auto logits = session_->take(tokens);
    EXPECT_FALSE(logits);
    return logits ? Error{} : logits.error();
  }

 private:
  const std::string bytes_;
  const GgufFile file_;
  const LlmConfig config_;
  const LlmWeights weights_;
  const test::TempDir state_;
  Report report_;
  std::unique_ptr<LanguageSession> session_;
  std::vector<int32_t> text_;
  int32_t best_ = 0;
};

constexpr double kSame = 1e-6, kFloat = 1e-4;

TEST(LanguageSession, GoesToTheHostWhereADeviceComputesNothing) {
  const Driver driver;
  Talk talk(test::noisy_model("llama"));
  ASSERT_TRUE(talk.open(test::report_of(driver.device())));
  EXPECT_EQ(talk.record().device, "Board");
  EXPECT_LT(talk.distance({1, 2, 3}), kSame);
  EXPECT_EQ(talk.record().device, "host");
  EXPECT_THAT(talk.record().warnings,
              ElementsAre(AllOf(HasSubstr("on Board"), HasSubstr("differs from the host's"),
                                HasSubstr("computed again on the host"))));
  EXPECT_LT(talk.distance({4}), kSame) << "and stays there";
  EXPECT_EQ(talk.record().warnings.size(), 1u);
}

TEST(LanguageSession, SaysOneThingHoweverManyStepsItGoesDown) {
  const Driver driver;
  Talk talk(test::noisy_model("gemma3", 512));
  LanguageOptions options;
  options.words.precision = Precision::kNormal;
  ASSERT_TRUE(talk.open(test::report_of(driver.device()), options));
  EXPECT_LT(talk.distance({1, 2, 3}), kSame);
  EXPECT_THAT(talk.record().warnings,
              ElementsAre(AllOf(HasSubstr("/normal/"), HasSubstr("the first of"),
                                HasSubstr("computed again on the host"))));
}

TEST(LanguageSession, SaysWhichCallFailed) {
  const Driver driver;
  Talk talk(test::noisy_model("qwen2"));
  ASSERT_TRUE(talk.open(test::report_of(driver.device())));
  driver.fail("launch");
  EXPECT_LT(talk.distance({1}), kSame);
  EXPECT_THAT(talk.record().warnings,
              ElementsAre(AllOf(HasSubstr("clEnqueueNDRangeKernel failed: CL_OUT_OF_RESOURCES"),
                                HasSubstr("computed again on the host"))));
}

// A map of a GPU with memory of its own costs a millisecond there in the midst of launches.
TEST(LanguageSession, MapsWhatItReadsWhereThatIsRightAndNotSlower) {
  const struct {
    CapabilityVerdict verdict;
    std::optional<double> map_us, read_us;
    std::string call;
  } rows[] = {{CapabilityVerdict::kTrue, 10, 20, "clEnqueueMapBuffer"},
              {CapabilityVerdict::kTrue, 20, 10, "clEnqueueReadBuffer"},
              {CapabilityVerdict::kTrue, {}, 10, "clEnqueueMapBuffer"},
              {CapabilityVerdict::kTrue, 10, {}, "clEnqueueMapBuffer"},
              {CapabilityVerdict::kWrong, 10, 20, "clEnqueueReadBuffer"},
              {CapabilityVerdict::kCrash, {}, {}, "clEnqueueReadBuffer"}};
  for (const auto& row : rows) {
    const Driver driver;
    Talk talk(test::noisy_model("llama"));
    DeviceReport device = driver.device();
    device.capabilities["map_read"].verdict = row.verdict;
    device.peaks.map_us = row.map_us;
    device.peaks.read_us = row.read_us;
    ASSERT_TRUE(talk.open(test::report_of(device)));
    driver.fail("map");
    EXPECT_LT(talk.distance({1}), kSame);
    EXPECT_THAT(talk.record().warnings, ElementsAre(HasSubstr(row.call + " failed")));
  }
}

TEST(LanguageSession, StartsOnTheHostWhereADeviceHasNoRoomOrDoesNotBuild) {
  for (const auto& [what, call] :
       {std::pair("room", "clCreateBuffer failed"), std::pair("build", "clBuildProgram failed")}) {
    const Driver driver;
    driver.fail(what);
    Talk talk(test::noisy_model("llama"));
    ASSERT_TRUE(talk.open(test::report_of(driver.device())));
    EXPECT_EQ(talk.record().device, "host");
    EXPECT_THAT(talk.record().warnings,
                ElementsAre(AllOf(HasSubstr("runs on the host: Board"), HasSubstr(call))));
    EXPECT_LT(talk.distance({1, 2}), kSame);
    LanguageOptions strict;
    strict.strict = true;
    const Status opened = talk.open(test::report_of(driver.device()), strict);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::kUnavailable);
  }
}

TEST(LanguageSession, StartsOnTheNextDeviceWhereOneIsGone) {
  const Driver driver;
  Report report = test::report_of(driver.device());
  report.devices.insert(report.devices.begin(), report.devices.front());
  report.devices.front().driver = "another";
  Talk talk(test::noisy_model("llama"));
  ASSERT_TRUE(talk.open(report));
  EXPECT_EQ(talk.record().device, "Board");
  EXPECT_THAT(talk.record().warnings, IsEmpty());
}

TEST(LanguageSession, FailsWhereStrictAndADeviceFails) {
  const Driver driver;
  Talk talk(test::noisy_model("llama"));
  LanguageOptions options;
  options.strict = true;
  ASSERT_TRUE(talk.open(test::report_of(driver.device()), options));
  driver.fail("launch");
  const Error fault = talk.fault({1, 2});
  EXPECT_EQ(fault.code, ErrorCode::kUnavailable);
  EXPECT_THAT(fault.message, AllOf(HasSubstr("high/low/"), HasSubstr("CL_OUT_OF_RESOURCES")));
}

TEST(LanguageSession, DoesNotStartWhereTheMemoryIsTooSmall) {
  const Driver driver;
  Talk talk(test::noisy_model("llama"));
  const test::Limits small{"1000000000", "1000"};
  ASSERT_TRUE(talk.open(test::report_of(driver.device(small))));
  EXPECT_EQ(talk.record().device, "host");
  EXPECT_THAT(talk.record().warnings,
              ElementsAre(AllOf(HasSubstr("in one piece"), HasSubstr("at most 1000"))));
}

struct Made {
  const char *arch, *type;
  uint64_t vocab = 7;
  const char* image_width = "16384";
};
class DeviceMemoryOf : public testing::TestWithParam<Made> {};

TEST_P(DeviceMemoryOf, IsWhatThePlanSaidInEveryCombination) {
  const Driver driver;
  const test::TinyShape shape{
      .layers = 1, .width = 256, .ff = 256, .head_dim = 64, .vocab = GetParam().vocab};
  const test::Limits limits{"1000000000", "500000000", GetParam().image_width};
  const Report report = test::report_of(driver.device(limits));
  const auto chooser = chooser_of(report, report.devices[0], *VariantTable::embedded());
  int opened = 0;
  for (const Combination& combination : decoder_combinations({})) {
    Talk talk(test::tiny_model(GetParam().arch, shape, GetParam().type));
    LanguageOptions options;
    options.words = {combination.precision, combination.memory, {}, combination.weights};
    options.strict = true;
    const DecoderPlanner planner(talk.config(), talk.weights(), *chooser);
    const auto memory = planner.memory(combination, planner.planned(combination).choices);
    ASSERT_TRUE(memory) << to_string(combination) << memory.error().message;
    const Status done = talk.open(report, options);
    ASSERT_TRUE(done) << to_string(combination) << done.error().message;
    EXPECT_EQ(to_string(talk.record().combination), to_string(combination));
    EXPECT_EQ(talk.record().device_bytes, memory->bytes(first_capacity(kRowsOfAStep)))
        << to_string(combination);
    ++opened;
  }
  EXPECT_EQ(opened, 12);
}

INSTANTIATE_TEST_SUITE_P(Models, DeviceMemoryOf,
                         testing::Values(Made{"llama", "Q8_0"}, Made{"qwen2", "Q4_0"},
                                         Made{"gemma3", "Q6_K"}, Made{"llama", "F16"},
                                         Made{"llama", "Q4_1", 50, "7"}),
                         [](const auto& row) {
                           return fmt::format("{}_{}_images_of_{}", row.param.arch, row.param.type,
                                              row.param.image_width);
                         });

TEST(OverPocl, GoesOnWithAnotherKernelAndThenOnTheHostAsCallsFailMidWay) {
  if (!test::pocl_library()) GTEST_SKIP() << "PoCL is not installed here";
  const Driver driver(*test::pocl_library());
  Talk talk(test::noisy_model("llama"));
  LanguageOptions options;
  options.words.precision = Precision::kNormal;
  ASSERT_TRUE(talk.open(test::report_of(driver.device()), options));
  EXPECT_LT(talk.distance({1, 2, 3, 4, 5}), 0.02);
  EXPECT_THAT(talk.record().warnings, IsEmpty());
  driver.fail("once");
  EXPECT_LT(talk.distance({6}), 0.02);
  EXPECT_EQ(talk.record().device, "Board");
  EXPECT_THAT(talk.record().warnings,
              ElementsAre(AllOf(HasSubstr("CL_OUT_OF_RESOURCES"), HasSubstr("kernel gemv_fused"),
                                HasSubstr("with normal/low/"))));
  EXPECT_LT(talk.distance({5}), 0.02);
  driver.fail("launch");
  EXPECT_LT(talk.distance({4, 3}), kSame);
  EXPECT_EQ(talk.record().device, "host");
  EXPECT_EQ(talk.record().warnings.size(), 2u);
}

TEST(OverPocl, AnswersAsTheHostFromTheBlocksOfTheFile) {
  if (!test::pocl_library()) GTEST_SKIP() << "PoCL is not installed here";
  const Driver driver(*test::pocl_library());
  const auto told = [](const Variant& variant, const TestShape&) {
    return test::Told{Verdict::kPass, variant.weight_type == WeightType::kQ4_0 ? 0.5 : 1};
  };
  for (const Precision precision : {Precision::kHigh, Precision::kNormal}) {
    Talk talk(test::quantised_model("llama", "Q4_0"));
    LanguageOptions options;
    options.words = {precision, Memory::kLow, {}, Storage::kBuffer};
    options.strict = true;
    ASSERT_TRUE(talk.open(test::timed_report(driver.device(), told), options));
    EXPECT_LT(talk.distance({1, 2, 3, 4, 5}), precision == Precision::kHigh ? kFloat : 0.02);
    EXPECT_LT(talk.distance({6}), precision == Precision::kHigh ? kFloat : 0.02);
    EXPECT_THAT(talk.variants(), testing::Contains(HasSubstr("/q4_0")));
    EXPECT_EQ(talk.record().device, "Board");
  }
}

// A device with memory of its own, whose maps are right and slower than its reads, or faster.
Report maps_of(const Driver& driver, bool faster) {
  DeviceReport device = driver.device();
  device.properties["CL_DEVICE_HOST_UNIFIED_MEMORY"].value = "false";
  device.capabilities[kMapReads].verdict = CapabilityVerdict::kTrue;
  device.peaks.map_us = faster ? 10 : 20;
  device.peaks.read_us = 15;
  return test::report_of(device);
}

// With logits of more than a thousand bytes.
test::GgufBuilder wordy_model() { return test::noisy_model("llama", 0, 512); }

TEST(OverPocl, MapsNoMoreWhereAMapOrAReadIntoOneIsWrong) {
  if (!test::pocl_library()) GTEST_SKIP() << "PoCL is not installed here";
  for (const auto& [fault, faster] : {std::pair("stale", true), {"lost", false}}) {
    const Driver driver(*test::pocl_library());
    driver.fail(fault);
    Talk talk(wordy_model());
    ASSERT_TRUE(talk.open(maps_of(driver, faster)));
    for (const int32_t token : {1, 2, 3}) EXPECT_LT(talk.distance({token}), kFloat) << fault;
    EXPECT_EQ(talk.record().device, "Board") << fault;
    EXPECT_THAT(talk.record().warnings,
                ElementsAre(HasSubstr("buffers of Board are not mapped any more")))
        << fault;
  }
}

TEST(OverPocl, ReadsIntoMemoryOfItsOwnWhereTheDriverMapsNone) {
  if (!test::pocl_library()) GTEST_SKIP() << "PoCL is not installed here";
  for (const char* fault : {"null", "unmapped", "none"}) {
    const Driver driver(*test::pocl_library());
    driver.fail(fault);
    Talk talk(wordy_model());
    ASSERT_TRUE(talk.open(maps_of(driver, false)));
    EXPECT_LT(talk.distance({1, 2, 3}), kFloat);
    EXPECT_EQ(talk.record().device, "Board");
    EXPECT_THAT(talk.record().warnings, IsEmpty());
    const bool asked = driver.log().find("clEnqueueMapBuffer") != std::string::npos;
    EXPECT_EQ(asked, fault != std::string("none")) << "only rules that fire are noted";
  }
}

std::set<std::string> ops_of(const Talk& talk) {
  std::set<std::string> ops;
  for (const auto& node : talk.record().nodes) ops.insert(node.op);
  return ops;
}

class FusedOverPocl : public testing::TestWithParam<const char*> {};

TEST_P(FusedOverPocl, AnswersAsTheHostDoes) {
  if (!test::pocl_library()) GTEST_SKIP() << "PoCL is not installed here";
  const Driver driver(*test::pocl_library());
  Talk talk(test::noisy_model(GetParam(), 3));
  ASSERT_TRUE(talk.open(test::report_of(driver.device())));
  EXPECT_TRUE(ops_of(talk).contains("attention_rope"));
  EXPECT_TRUE(ops_of(talk).contains("gemv_fused"));
  for (int32_t token = 1; token <= 6; ++token) EXPECT_LT(talk.distance({token}), kFloat) << token;
  EXPECT_LT(talk.distance({5, 4, 3}), kFloat) << "a prompt behind them";
  EXPECT_LT(talk.distance({2}), kFloat);
  EXPECT_EQ(talk.record().device, "Board");
  EXPECT_THAT(talk.record().warnings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Models, FusedOverPocl, testing::Values("llama", "qwen2", "gemma3"),
                         [](const auto& row) { return row.param; });

TEST(OverPocl, LeavesTheCallsApartWhereAFusedKernelTurnsOutWrong) {
  if (!test::pocl_library()) GTEST_SKIP() << "PoCL is not installed here";
  const Driver driver(*test::pocl_library());
  driver.fail("tile");
  Talk talk(test::noisy_model("llama"));
  ASSERT_TRUE(talk.open(test::report_of(driver.device())));
  EXPECT_TRUE(ops_of(talk).contains("gemv_fused"));
  EXPECT_LT(talk.distance({1, 2}), kFloat);
  EXPECT_EQ(talk.record().device, "Board");
  EXPECT_FALSE(ops_of(talk).contains("gemv_fused"));
  EXPECT_TRUE(ops_of(talk).contains("attention_rope"));
  EXPECT_THAT(talk.record().warnings, ElementsAre(HasSubstr("gemv_fused")));
}

// Of each launch only the position is new.
TEST(OverPocl, AsksTheDriverForNoMoreThanTheLaunchesOfATokenAndWaitsForTheLogits) {
  if (!test::pocl_library()) GTEST_SKIP() << "PoCL is not installed here";
  const Driver driver(*test::pocl_library());
  Talk talk(test::noisy_model("llama"));
  LanguageOptions options;
  options.self_check = 0;
  ASSERT_TRUE(talk.open_confirmed(test::report_of(driver.device()), options));
  EXPECT_LT(talk.distance({1}), kFloat);
  EXPECT_LT(talk.distance({2}), kFloat);
  driver.fail("count");
  EXPECT_LT(talk.distance({3}), kFloat);
  std::map<std::string, size_t> calls;
  std::istringstream lines(driver.log());
  for (std::string line; std::getline(lines, line);) {
    for (const char* call : {"clSetKernelArg", "clEnqueueNDRangeKernel", "clEnqueueWriteBuffer",
                             "clEnqueueReadBuffer", "clFinish", "clFlush", "clWaitForEvents"}) {
      if (line.find(call) != std::string::npos) ++calls[call];
    }
  }
  const size_t layers = static_cast<size_t>(talk.config().layers);
  EXPECT_EQ(calls["clEnqueueNDRangeKernel"], 5 * layers + 1);
  EXPECT_EQ(calls["clSetKernelArg"], layers) << "the position, for attention";
  EXPECT_EQ(calls["clEnqueueWriteBuffer"], 1u);
  EXPECT_EQ(calls["clEnqueueReadBuffer"], 1u);
  EXPECT_EQ(calls["clFinish"] + calls["clFlush"] + calls["clWaitForEvents"], 0u);
}

// The logits of the step before are as plausible as any.
TEST(OverPocl, LooksAtOnceAtAStepThatCameTooSoon) {
  if (!test::pocl_library()) GTEST_SKIP() << "PoCL is not installed here";
  const Driver driver(*test::pocl_library());
  driver.fail("slow");
  Talk talk(test::noisy_model("llama"));
  ASSERT_TRUE(talk.open(test::report_of(driver.device())));
  EXPECT_LT(talk.distance({1, 2}), kFloat);
  EXPECT_LT(talk.distance({3}), kFloat);
  EXPECT_THAT(talk.record().warnings, IsEmpty());
  driver.fail("skip");
  EXPECT_LT(talk.distance({4}), kFloat);
  EXPECT_EQ(talk.record().device, "host");
}

TEST(OverPocl, GoesToTheHostWhereTheCacheCannotGrow) {
  if (!test::pocl_library()) GTEST_SKIP() << "PoCL is not installed here";
  const Driver driver(*test::pocl_library());
  Talk talk(test::noisy_model("llama"));
  ASSERT_TRUE(talk.open(test::report_of(driver.device())));
  EXPECT_LT(talk.distance(std::vector<int32_t>(200, 1)), kFloat);
  driver.fail("room");
  EXPECT_LT(talk.distance(std::vector<int32_t>(100, 2)), kSame);
  EXPECT_EQ(talk.record().device, "host");
  EXPECT_THAT(talk.record().warnings, ElementsAre(HasSubstr("clCreateBuffer failed")));
}

// With memory of its own: there it goes on with the token that it chose.
class AheadOverPocl : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::pocl_library()) GTEST_SKIP() << "PoCL is not installed here";
    driver_.emplace(*test::pocl_library());
  }
  void open_confirmed() { open(0, true, true); }
  void open(std::optional<double> self_check, bool greedy = true, bool confirmed = false) {
    DeviceReport device = driver_->device();
    device.properties["CL_DEVICE_HOST_UNIFIED_MEMORY"].value = "false";
    device.capabilities["map_read"].verdict = CapabilityVerdict::kTrue;
    device.peaks.map_us = 20;
    device.peaks.read_us = 10;
    LanguageOptions options;
    options.words.precision = Precision::kHigh;
    options.self_check = self_check;
    const Report report = test::report_of(device);
    ASSERT_TRUE(confirmed ? talk_.open_confirmed(report, options) : talk_.open(report, options));
    talk_.expect_greedy(greedy);
  }
  void expect_right() {
    EXPECT_EQ(talk_.record().device, "Board");
    EXPECT_THAT(talk_.record().warnings, IsEmpty());
  }

  std::optional<Driver> driver_;
  Talk talk_{test::noisy_model("llama", 0, 8)};
};

TEST_F(AheadOverPocl, HasTheNextAnswerUnderWayBeforeItIsAsked) {
  open_confirmed();
  const int32_t first = talk_.best_behind({1, 2, 3});
  const int32_t second = talk_.best_behind({first});
  talk_.expect_greedy(false);
  driver_->fail("launch");
  EXPECT_LT(talk_.distance({second}), kFloat);
  expect_right();
}

TEST_F(AheadOverPocl, AnswersATokenThatTheDeviceDidNotChoose) {
  open(0);
  const int32_t chosen = talk_.best_behind({1, 2, 3});
  const int32_t next = talk_.best_behind({(chosen + 1) % 8});
  EXPECT_LT(talk_.distance({(next + 3) % 8, 1, 2}), kFloat);
  expect_right();
}

TEST_F(AheadOverPocl, GoesOnAsTheCachesGrow) {
  open(0);
  int32_t token = talk_.best_behind(std::vector<int32_t>(252, 1));
  for (int i = 0; i < 8; ++i) token = talk_.best_behind({token});
  expect_right();
}

TEST_F(AheadOverPocl, IsConfirmedByTheHostAtEachStepWhereThatIsAskedFor) {
  open(1);
  int32_t token = talk_.best_behind({1, 2, 3});
  for (int i = 0; i < 4; ++i) token = talk_.best_behind({token});
  expect_right();
  driver_->fail("choice");
  EXPECT_LT(talk_.distance({token}), kSame);
  EXPECT_EQ(talk_.record().device, "host");
}

// What it says then is what it said two tokens before.
TEST_F(AheadOverPocl, IsLookedAtAtOnceWhereItDoesNothingAnyMore) {
  driver_->fail("slow");
  open(std::nullopt);
  int32_t token = talk_.best_behind({1, 2});
  for (int i = 0; i < 3; ++i) token = talk_.best_behind({token});
  expect_right();
  driver_->fail("skip");
  token = talk_.best_behind({token});
  EXPECT_LT(talk_.distance({token}), kFloat);
  EXPECT_EQ(talk_.record().device, "host");
}

TEST_F(AheadOverPocl, GoesToTheHostWhereAnAnswerCannotBeRead) {
  open(0);
  const int32_t token = talk_.best_behind({1, 2, 3});
  driver_->fail("map");
  EXPECT_LT(talk_.distance({token}), kSame);
  EXPECT_EQ(talk_.record().device, "host");
  EXPECT_THAT(talk_.record().warnings, ElementsAre(HasSubstr("clEnqueueReadBuffer failed")));
}

TEST_F(AheadOverPocl, TakesMemoryForItOnlyOnceTokensAreGreedy) {
  open(0);
  Talk sampled{test::noisy_model("llama", 0, 8)};
  LanguageOptions options;
  options.words.precision = Precision::kHigh;
  ASSERT_TRUE(sampled.open(talk_.report(), options));
  EXPECT_GE(talk_.record().device_bytes,
            sampled.record().device_bytes + next_token_bytes(talk_.config()));
  EXPECT_EQ(talk_.record().nodes.size(), sampled.record().nodes.size() + 1);
}

TEST_F(AheadOverPocl, DoesWithoutItWhereTheDeviceHasNoRoomForIt) {
  open(0, false);
  driver_->fail("room");
  talk_.expect_greedy(true);
  talk_.expect_greedy(true);
  driver_->fail("none");
  const int32_t token = talk_.best_behind({1, 2, 3});
  EXPECT_LT(talk_.distance({token}), kFloat);
  EXPECT_EQ(talk_.record().device, "Board");
  EXPECT_THAT(talk_.record().warnings,
              ElementsAre(HasSubstr("Board does not choose tokens by itself: clCreateBuffer")));
}

TEST_F(AheadOverPocl, MayBeginBehindATextForWhichTheCachesGrew) {
  open(0, false);
  talk_.best_behind(std::vector<int32_t>(300, 1));
  talk_.expect_greedy(true);
  EXPECT_EQ(talk_.record().nodes.back().name, kNextToken);
  const int32_t token = talk_.best_behind({1});
  EXPECT_LT(talk_.distance({token}), kFloat);
  expect_right();
}

TEST_F(AheadOverPocl, MayBeClosedWithAnAnswerUnderWay) {
  open(0);
  EXPECT_LT(talk_.distance({1, 2, 3}), kFloat);
  expect_right();
}

}  // namespace
}  // namespace clvet
