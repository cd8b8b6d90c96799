// Language models on the host; on devices: tests/runtime/fake/language_session_test.cpp.
#include "runtime/run/language_session.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/arch.h"
#include "runtime/llm/llm_config.h"
#include "tests/runtime/gguf/gguf_builder.h"
#include "tests/runtime/llm/model_files.h"

namespace clvet {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class HostTalk {
 public:
  explicit HostTalk(const test::GgufBuilder& builder, LanguageOptions options = {})
      : bytes_(builder.bytes()) {
    auto file = test::parse_gguf(bytes_);
    EXPECT_TRUE(file) << file.error().message;
    file_ = std::make_unique<GgufFile>(std::move(*file));
    config_ = load_config(*file_).value();
    auto opened = LanguageSession::open(*file_, config_, nullptr, std::move(options));
    if (opened) {
      session_ = std::move(*opened);
    } else {
      fault_ = opened.error();
    }
  }
  LanguageSession* operator->() { return session_.get(); }
  const Error& fault() const { return fault_; }
  std::vector<float> take(const std::vector<int32_t>& tokens) {
    const auto logits = session_->take(tokens);
    EXPECT_TRUE(logits) << logits.error().message;
    return logits ? std::vector<float>(logits->begin(), logits->end()) : std::vector<float>();
  }
  Error refused(const std::vector<int32_t>& tokens) {
    const auto logits = session_->take(tokens);
    EXPECT_FALSE(logits);
    return logits ? Error{} : logits.error();
  }

 private:
  std::string bytes_;
  std::unique_ptr<GgufFile> file_;
  LlmConfig config_;
  std::unique_ptr<LanguageSession> session_;
  Error fault_;
};

TEST(LanguageSessionOnTheHost, SaysWhereItRuns) {
  HostTalk talk(test::noisy_model("llama"));
  const LanguageRecord& record = talk->record();
  EXPECT_EQ(record.device, "host");
  EXPECT_EQ(record.combination.precision, Precision::kHigh);
  EXPECT_THAT(record.nodes, IsEmpty());
  EXPECT_EQ(record.device_bytes, 0);
  EXPECT_THAT(record.warnings, IsEmpty());
  EXPECT_THAT(talk->plan().phases, IsEmpty());
  EXPECT_EQ(talk->position(), 0);
}

// A text in one go and in pieces: sums of products of rows in another order, so a few roundings.
TEST(LanguageSessionOnTheHost, GoesOnFromWhatItTook) {
  HostTalk talk(test::noisy_model("qwen2"));
  const std::vector<float> whole = talk.take({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(talk->position(), 6);
  talk->restart();
  EXPECT_EQ(talk->position(), 0);
  talk.take({1, 2});
  talk.take({3});
  const std::vector<float> pieces = talk.take({4, 5, 6});
  EXPECT_EQ(talk->position(), 6);
  ASSERT_EQ(pieces.size(), whole.size());
  for (size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(pieces[i], whole[i], 1e-4) << i;
  talk->restart();
  EXPECT_EQ(talk.take({1, 2, 3, 4, 5, 6}), whole) << "nothing of the other text is left";
  EXPECT_NE(talk.take({6}), talk.take({6})) << "a token says another thing behind another text";
}

TEST(LanguageSessionOnTheHost, RefusesTokensAndTextsThatTheModelDoesNotTake) {
  HostTalk talk(test::noisy_model("llama"));
  EXPECT_EQ(talk.refused({}).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(talk.refused({7}).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(talk.refused({-1}).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(talk.refused(std::vector<int32_t>(4097, 1)).code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(talk.take({1}).size(), 7u) << "it goes on";
}

TEST(LanguageSessionOnTheHost, HasNoClockOfADevice) {
  HostTalk talk(test::noisy_model("llama"));
  const auto ms = talk->device_ms_of_a_token(1);
  ASSERT_FALSE(ms);
  EXPECT_EQ(ms.error().code, ErrorCode::kUnsupported);
}

// There is nowhere left to go from the host.
TEST(LanguageSessionOnTheHost, SaysThatItsLogitsAreNoModels) {
  HostTalk zeros(test::tiny_model("llama"));
  EXPECT_THAT(zeros.refused({1, 2}).message,
              AllOf(HasSubstr("host"), HasSubstr("all logits are equal")));
  test::GgufBuilder builder = test::noisy_model("llama");
  builder.find("output_norm.weight")->data.replace(0, 4, test::raw(INFINITY));
  HostTalk infinite(builder);
  const Error fault = infinite.refused({1, 2});
  EXPECT_EQ(fault.code, ErrorCode::kDeviceError);
  EXPECT_THAT(fault.message, AllOf(HasSubstr("host"), HasSubstr("not finite")));
}

TEST(LanguageSessionOnTheHost, IsNotOpenedStrictlyUnlessTheHostWasAskedFor) {
  HostTalk strict(test::noisy_model("llama"), {.strict = true});
  EXPECT_EQ(strict.fault().code, ErrorCode::kUnavailable);
  EXPECT_THAT(strict.fault().message, HasSubstr("--strict: no device can run the model"));
  HostTalk asked(test::noisy_model("llama"), {.device = "host", .strict = true});
  EXPECT_EQ(asked->record().device, "host");
}

}  // namespace
}  // namespace clvet
