// A language model, probe, reports and plans as a C program uses them.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include "clvet/clvet_c.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/runtime/api/c/open_session.h"
#include "tests/runtime/api/model_files.h"
#include "tests/support.h"

namespace clvet::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using CGenerated = std::unique_ptr<clvet_generated, Freed<clvet_generated_free>>;
using CText = std::unique_ptr<char, Freed<clvet_string_free>>;

std::vector<int32_t> tokens_of(const CGenerated& generated) {
  size_t count = 0;
  const int32_t* tokens = clvet_generated_tokens(generated.get(), &count);
  return {tokens, tokens + count};
}

struct CLanguage : testing::Test {
  void SetUp() override {
    clvet_language_options options;
    CLVET_INIT(options);
    options.device = "host";
    ASSERT_EQ(clvet_language_open(file_.c_str(), &options, &model_), CLVET_OK)
        << clvet_last_error();
    CLVET_INIT(options_);
    options_.prompt = "bcd";
    options_.max_tokens = 6;
    options_.temperature = 1;
    options_.seed = 3;
  }
  void TearDown() override { clvet_language_free(model_); }
  clvet_code generate() {
    clvet_generated* generated = nullptr;
    const clvet_code code = clvet_language_generate(model_, &options_, &generated);
    generated_.reset(generated);
    return code;
  }

  const TempDir folder_;
  const std::string file_ = write_language_model(folder_.path());
  clvet_language* model_ = nullptr;
  clvet_generate_options options_ = {};
  CGenerated generated_;
};

TEST_F(CLanguage, GoesOnWithATextAsWithItsTokens) {
  int32_t* tokens = nullptr;
  size_t count = 0;
  ASSERT_EQ(clvet_language_tokenize(model_, "bcd", &tokens, &count), CLVET_OK);
  EXPECT_THAT(std::vector<int32_t>(tokens, tokens + count), ElementsAre(1, 2, 3));
  std::string said;
  options_.on_text_user = &said;
  options_.on_text = [](const char* piece, void* user) {
    *static_cast<std::string*>(user) += piece;
    return 1;
  };
  ASSERT_EQ(generate(), CLVET_OK) << clvet_last_error();
  EXPECT_EQ(said, clvet_generated_text(generated_.get()));
  EXPECT_EQ(clvet_generated_ending(generated_.get()), CLVET_LIMIT);
  size_t prompt_count = 0;
  EXPECT_EQ(clvet_generated_prompt(generated_.get(), &prompt_count)[2], 3);
  EXPECT_EQ(prompt_count, 3u);
  const std::vector<int32_t> first = tokens_of(generated_);
  char* text = nullptr;
  ASSERT_EQ(clvet_language_text_of(model_, first.data(), first.size(), &text), CLVET_OK);
  EXPECT_EQ(CText(text).get(), said);
  options_.prompt = nullptr;
  options_.prompt_tokens = tokens;
  options_.prompt_token_count = count;
  ASSERT_EQ(generate(), CLVET_OK);
  EXPECT_EQ(tokens_of(generated_), first);
  clvet_tokens_free(tokens);
}

TEST_F(CLanguage, EndsWhereTheCallersFunctionSaysSo) {
  options_.on_text = [](const char*, void*) { return 0; };
  ASSERT_EQ(generate(), CLVET_OK);
  EXPECT_EQ(clvet_generated_ending(generated_.get()), CLVET_STOPPED);
}

TEST_F(CLanguage, OutlivesWhatTheCallersFunctionThrows) {
  options_.on_text = [](const char*, void*) -> int32_t { throw std::runtime_error("full"); };
  EXPECT_EQ(generate(), CLVET_INVALID_ARGUMENT);
  EXPECT_STREQ(clvet_last_error(), "on_text threw: full");
  EXPECT_EQ(generated_, nullptr);
  options_.on_text = [](const char*, void*) -> int32_t { throw 7; };
  EXPECT_EQ(generate(), CLVET_INVALID_ARGUMENT);
  options_.on_text = nullptr;
  EXPECT_EQ(generate(), CLVET_OK);
}

TEST_F(CLanguage, EndsATextThatIsCancelled) {
  options_.on_text_user = model_;
  options_.on_text = [](const char*, void* user) {
    std::thread([user] { clvet_language_cancel(static_cast<clvet_language*>(user)); }).join();
    return 1;
  };
  EXPECT_EQ(generate(), CLVET_CANCELLED) << clvet_last_error();
  options_.on_text = nullptr;
  EXPECT_EQ(generate(), CLVET_OK);
}

TEST_F(CLanguage, RefusesPromptsThatAreNone) {
  static const int32_t unknown[] = {1, 99999};
  static const clvet_chat_turn nobody[] = {{nullptr, "Hello"}}, silent[] = {{"user", nullptr}},
                               cook[] = {{"cook", "Hello"}};
  struct Prompt {
    const char* says;
    std::function<void(clvet_generate_options&)> ask;
  };
  const std::vector<Prompt> prompts = {
      {"one of prompt", [](auto&) {}},
      {"one of prompt", [](auto& o) { o.prompt = "b", o.prompt_tokens = unknown; }},
      {"no tokens", [](auto& o) { o.prompt = ""; }},
      {"no tokens", [](auto& o) { o.prompt_tokens = unknown; }},
      {"99999", [](auto& o) { o.prompt_tokens = unknown, o.prompt_token_count = 2; }},
      {"more than", [](auto& o) { o.prompt_tokens = unknown, o.prompt_token_count = SIZE_MAX; }},
      {"turn 0 has no role", [](auto& o) { o.turns = nobody, o.turn_count = 1; }},
      {"turn 0 has no text", [](auto& o) { o.turns = silent, o.turn_count = 1; }},
      {"no role 'cook'", [](auto& o) { o.turns = cook, o.turn_count = 1; }},
      {"no turns", [](auto& o) { o.turns = cook; }},
      {"max_tokens", [](auto& o) { o.prompt = "b", o.max_tokens = -1; }},
      {"UTF-8", [](auto& o) { o.prompt = "\xff"; }},
      {"CLVET_INIT", [](auto& o) { o.struct_size = 0; }},
  };
  for (const Prompt& prompt : prompts) {
    options_.prompt = nullptr;
    clvet_generate_options whole = options_;
    prompt.ask(options_);
    EXPECT_EQ(generate(), CLVET_INVALID_ARGUMENT) << prompt.says;
    EXPECT_THAT(clvet_last_error(), HasSubstr(prompt.says));
    options_ = whole;
  }
}

TEST_F(CLanguage, SaysWhereItRuns) {
  clvet_placement* placement = nullptr;
  ASSERT_EQ(clvet_language_placement(model_, &placement), CLVET_OK);
  EXPECT_STREQ(clvet_placement_device(placement), "host");
  clvet_placement_free(placement);
}

struct CMachine : testing::Test {
  void SetUp() override {
    CLVET_INIT(options_);
    options_.state_dir = folder_.path().c_str();
    options_.program = program_.c_str();
  }
  // A program that does this in place of a probe.
  void probing(const std::string& script) const {
    put(program_, "#!/bin/sh\n" + script);
    ::chmod(program_.c_str(), 0700);
  }

  const TempDir folder_;
  const std::string program_ = folder_ / "clvet";
  clvet_probe_options options_ = {};
};

TEST_F(CMachine, ProbeTellsHowTheProgramEnded) {
  probing("echo 'another probe is running'; exit 5");
  char* json = nullptr;
  EXPECT_EQ(clvet_probe(&options_, &json), CLVET_BUSY);
  EXPECT_THAT(clvet_last_error(), HasSubstr("another"));
  EXPECT_EQ(json, nullptr);
}

TEST_F(CMachine, ProbeHandsOnLinesAndEndsWhereItIsToldTo) {
  probing("trap 'exit 130' INT; echo one >&2; while :; do sleep 0.05; done");
  std::string line;
  options_.progress_user = &line;
  options_.progress = [](const char* text, void* user) {
    *static_cast<std::string*>(user) = text;
    return 0;
  };
  EXPECT_EQ(clvet_probe(&options_, nullptr), CLVET_CANCELLED) << clvet_last_error();
  EXPECT_EQ(line, "one");
  options_.progress = [](const char*, void*) -> int32_t { throw std::runtime_error("full"); };
  EXPECT_EQ(clvet_probe(&options_, nullptr), CLVET_INVALID_ARGUMENT);
  EXPECT_STREQ(clvet_last_error(), "progress threw: full");
}

TEST_F(CMachine, ProbeRefusesALibraryThatIsNull) {
  const char* libraries[] = {"/a.so", nullptr};
  options_.libraries = libraries;
  options_.library_count = 2;
  EXPECT_EQ(clvet_probe(&options_, nullptr), CLVET_INVALID_ARGUMENT);
  EXPECT_THAT(clvet_last_error(), HasSubstr("library 1 is null"));
}

TEST_F(CMachine, ThereIsNoReportBeforeTheFirstProbe) {
  char* json = nullptr;
  EXPECT_EQ(clvet_report_read(nullptr, folder_.path().c_str(), &json), CLVET_UNAVAILABLE)
      << clvet_last_error();
  EXPECT_EQ(clvet_report_read((folder_ / "none.json").c_str(), nullptr, &json), CLVET_NOT_FOUND);
  EXPECT_EQ(json, nullptr);
}

TEST_F(CMachine, PlansForTheHostWithTheShapesThatAreGiven) {
  const std::string model = write_doubling(folder_.path());
  const int64_t shape[] = {2, 2}, wrong[] = {2, 3};
  clvet_tensor_info x = {"x", 0, 2, shape};
  clvet_plan_options options;
  CLVET_INIT(options);
  options.device = "host";
  options.shapes = &x;
  options.shape_count = 1;
  char* json = nullptr;
  ASSERT_EQ(clvet_plan(model.c_str(), &options, &json), CLVET_OK) << clvet_last_error();
  EXPECT_THAT(CText(json).get(), HasSubstr("clvet.plan/1"));
  x.shape = wrong;
  EXPECT_EQ(clvet_plan(model.c_str(), &options, &json), CLVET_INVALID_ARGUMENT);
  EXPECT_EQ(json, nullptr);
}

}  // namespace
}  // namespace clvet::test
