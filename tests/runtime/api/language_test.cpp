// The public language model as a program sees it that has the installed headers alone.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>
#include "clvet/clvet.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <latch>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/runtime/api/model_files.h"
#include "tests/runtime/api/place.h"
#include "tests/support.h"

namespace {

using clvet::Ending;
using clvet::Error;
using clvet::ErrorCode;
using clvet::Generated;
using clvet::GenerateOptions;
using clvet::LanguageModel;
using testing::ElementsAre;
using testing::HasSubstr;

using Tokens = std::vector<int32_t>;

template <class T>
Error refused(const clvet::Result<T>& result) {
  EXPECT_FALSE(result) << "it was allowed";
  return result ? Error{} : result.error();
}

class PublicLanguageModel : public testing::Test {
 protected:
  LanguageModel open() const {
    auto model = LanguageModel::open(
        file_, clvet::test::at_place<clvet::LanguageOptions>(folder_ / "state"));
    EXPECT_TRUE(model) << model.error().message;
    return std::move(*model);
  }

  const clvet::test::TempDir folder_;
  const std::string file_ = clvet::test::write_language_model(folder_.path());
};

TEST_F(PublicLanguageModel, GoesOnWithATextAsWithItsTokens) {
  LanguageModel model = open();
  const auto tokens = model.tokenize("bcd");
  ASSERT_TRUE(tokens);
  EXPECT_THAT(*tokens, ElementsAre(1, 2, 3));
  std::string streamed;
  const auto by_text = model.generate("bcd", {.max_tokens = 12, .on_text = [&](const auto& piece) {
                                                streamed += piece;
                                                return true;
                                              }});
  ASSERT_TRUE(by_text) << by_text.error().message;
  EXPECT_EQ(streamed, by_text->text);
  EXPECT_EQ(by_text->prompt, *tokens);
  EXPECT_EQ(*model.text_of(by_text->tokens), by_text->text);
  const auto by_tokens = model.generate(*tokens, {.max_tokens = 12});
  ASSERT_TRUE(by_tokens);
  EXPECT_EQ(by_tokens->tokens, by_text->tokens) << "each call begins anew";
}

TEST_F(PublicLanguageModel, EndsWhereItIsToldTo) {
  LanguageModel model = open();
  const auto whole =
      model.generate(Tokens{1, 2, 3}, {.max_tokens = 6, .temperature = 1, .seed = 3});
  ASSERT_TRUE(whole);
  ASSERT_EQ(whole->tokens.size(), 6u) << "another seed is needed: the model ended by itself";
  EXPECT_EQ(whole->ending, Ending::limit);
  int pieces = 0;
  const auto stopped = model.generate(
      Tokens{1, 2, 3}, {.max_tokens = 6, .temperature = 1, .seed = 3, .on_text = [&](const auto&) {
                          return ++pieces < 2;
                        }});
  ASSERT_TRUE(stopped);
  EXPECT_EQ(stopped->ending, Ending::stopped);
  EXPECT_EQ(stopped->tokens, Tokens(whole->tokens.begin(), whole->tokens.begin() + 2));
  EXPECT_EQ(pieces, 2);
}

TEST_F(PublicLanguageModel, EndsWhereItsContextIsFull) {
  LanguageModel model = open();
  const auto filled = model.generate(Tokens(4090, 1), {.max_tokens = 100, .temperature = 2});
  ASSERT_TRUE(filled) << filled.error().message;
  EXPECT_LE(filled->tokens.size(), 7u);
  EXPECT_EQ(refused(model.generate(Tokens(5000, 1))).code, ErrorCode::resource_exhausted);
}

struct Misuse {
  const char* name;
  ErrorCode code;
  const char* says;
  std::function<Error(LanguageModel& model)> commit;
};

const std::vector<Misuse>& misuses() {
  using Model = LanguageModel;
  static const std::vector<Misuse> all = {
      {"NoTokens", ErrorCode::invalid_argument, "no tokens",
       [](Model& m) { return refused(m.generate(Tokens{})); }},
      {"AnEmptyText", ErrorCode::invalid_argument, "no tokens",
       [](Model& m) { return refused(m.generate(std::string())); }},
      {"ATokenThatThereIsNot", ErrorCode::invalid_argument, "the token 7: the model's are 0 to 6",
       [](Model& m) {
         return refused(m.generate(Tokens{1, 7}));
       }},
      {"ANegativeToken", ErrorCode::invalid_argument, "the token -1",
       [](Model& m) { return refused(m.generate(Tokens{-1})); }},
      {"ALetterThatThereIsNot", ErrorCode::invalid_argument, "",
       [](Model& m) { return refused(m.tokenize("xyz")); }},
      {"BrokenUtf8", ErrorCode::invalid_argument, "UTF-8",
       [](Model& m) { return refused(m.generate("b\xff")); }},
      {"NoTokensWanted", ErrorCode::invalid_argument, "max_tokens is 0",
       [](Model& m) { return refused(m.generate(Tokens{1}, {.max_tokens = 0})); }},
      {"ATemperatureThatIsNoNumber", ErrorCode::invalid_argument, "temperature",
       [](Model& m) {
         return refused(
             m.generate(Tokens{1}, {.temperature = std::numeric_limits<double>::quiet_NaN()}));
       }},
      {"ANegativeTopK", ErrorCode::invalid_argument, "top",
       [](Model& m) { return refused(m.generate(Tokens{1}, {.temperature = 1, .top_k = -1})); }},
      {"AFunctionThatThrows", ErrorCode::invalid_argument, "on_text threw: the disk is full",
       [](Model& m) {
         return refused(m.generate(Tokens{1}, {.on_text = [](const auto&) -> bool {
                                     throw std::runtime_error("the disk is full");
                                   }}));
       }},
      {"AFunctionThatThrowsANumber", ErrorCode::invalid_argument, "on_text threw",
       [](Model& m) {
         return refused(m.generate(Tokens{1}, {.on_text = [](const auto&) -> bool { throw 7; }}));
       }},
      {"NoTurns", ErrorCode::invalid_argument, "no turns",
       [](Model& m) { return refused(m.chat({})); }},
      {"ARoleThatThereIsNot", ErrorCode::invalid_argument, "no role 'robot'",
       [](Model& m) {
         return refused(m.chat({{"robot", "b"}}));
       }},
      {"ChatWithAModelWithoutATemplate", ErrorCode::unsupported, "template",
       [](Model& m) {
         return refused(m.chat({{"user", "b"}}));
       }},
      {"UseAfterMove", ErrorCode::stale, "moved from",
       [](Model& m) {
         Model other = std::move(m);
         const Error error = refused(m.generate(Tokens{1}));  // NOLINT(bugprone-use-after-move)
         EXPECT_EQ(refused(m.tokenize("b")).code, ErrorCode::stale);
         EXPECT_EQ(refused(m.placement()).code, ErrorCode::stale);
         m.cancel();
         m = std::move(other);
         return error;
       }},
  };
  return all;
}

class PublicLanguageMisuse : public PublicLanguageModel,
                             public testing::WithParamInterface<Misuse> {};

TEST_P(PublicLanguageMisuse, IsAnErrorWithANameAndTheModelGoesOn) {
  LanguageModel model = open();
  const Error error = GetParam().commit(model);
  EXPECT_EQ(error.code, GetParam().code) << to_string(error.code);
  EXPECT_THAT(error.message, HasSubstr(GetParam().says));
  EXPECT_THAT(error.message, testing::Not(HasSubstr("\n")));
  EXPECT_TRUE(model.generate(Tokens{1}, {.max_tokens = 2}));
}

INSTANTIATE_TEST_SUITE_P(Of, PublicLanguageMisuse, testing::ValuesIn(misuses()),
                         [](const auto& info) { return info.param.name; });

TEST_F(PublicLanguageModel, OpenOfWhatIsNoModelSaysSo) {
  clvet::test::put(folder_ / "m.gguf", "GGUF");
  EXPECT_EQ(refused(LanguageModel::open(folder_ / "m.gguf", {.device = "host"})).code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused(LanguageModel::open("/nowhere/m.gguf", {.device = "host"})).code,
            ErrorCode::not_found);
  EXPECT_EQ(refused(LanguageModel::open("/dev/zero", {.device = "host"})).code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused(LanguageModel::open(file_, {.device = "host", .memory = "tiny"})).code,
            ErrorCode::invalid_argument);
}

TEST_F(PublicLanguageModel, CancelEndsWhatGeneratesAndWhatWaits) {
  LanguageModel model = open();
  std::vector<std::thread> threads;
  std::vector<ErrorCode> codes(2, ErrorCode::internal);
  std::latch started(2);
  for (ErrorCode& code : codes) {
    threads.emplace_back([&] {
      started.count_down();
      const auto result = model.generate(Tokens(4000, 1));
      if (!result) code = result.error().code;
    });
  }
  started.wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  model.cancel();
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(codes, testing::Each(ErrorCode::cancelled));
  EXPECT_TRUE(model.generate(Tokens{1}, {.max_tokens = 1}));
}

TEST_F(PublicLanguageModel, GeneratesForManyThreadsOneAfterTheOther) {
  LanguageModel model = open();
  const GenerateOptions options{.max_tokens = 4};
  const auto right = model.generate(Tokens{1, 2, 3}, options);
  ASSERT_TRUE(right);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        const auto got = model.generate(Tokens{1, 2, 3}, options);
        ASSERT_TRUE(got);
        EXPECT_EQ(got->tokens, right->tokens);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(PublicLanguageModel, AChildProcessIsToldToOpenItsOwn) {
  LanguageModel model = open();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto result = model.generate(Tokens{1});
    ::_exit(!result && result.error().code == ErrorCode::unavailable ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
