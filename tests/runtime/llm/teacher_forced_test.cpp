#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/event.h"
#include "base/file.h"
#include "base/result.h"
#include "runtime/llm/teacher_forced.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::HasSubstr;

// Says 1 after every token but 7, after which it says 2.
TeacherForcedModel sevens(int& restarts) {
  return {[&restarts] { ++restarts; },
          [](std::span<const int32_t> tokens) -> Result<std::span<const float>> {
            static constexpr std::array<float, 3> kTwo = {0, 0, 9}, kOne = {0, 9, 0};
            return tokens.back() == 7 ? kTwo : kOne;
          }};
}

TEST(TeacherForced, GoesOnFromTheOthersChoiceAndCountsClearMarginsOnly) {
  const std::vector<TeacherForcedCase> cases = {
      {.prompt = {5},
       .chosen = {7, 2, 1},
       .margins = {1.0, 1.0, 0.3},
       .exact = {},
       .exact_margins = {}},
      {.prompt = {5, 7}, .chosen = {2}, .margins = {0.31}, .exact = {1}, .exact_margins = {0.5}}};
  int restarts = 0;
  const auto count = compare_teacher_forced(cases, sevens(restarts), nullptr);
  ASSERT_TRUE(count);
  EXPECT_EQ(restarts, 2);
  EXPECT_EQ(count->of, 3) << "a margin of 0.3 is not over 0.3";
  EXPECT_EQ(count->right, 2) << "7 was chosen where the model says 1";
  EXPECT_EQ(count->exact_of, 1);
  EXPECT_EQ(count->exact, 0);
}

TEST(TeacherForced, RefusesFilesThatHoldSomethingElseNamingCaseAndField) {
  const test::TempDir dir;
  const std::string path = dir / "golden.json";
  struct Row {
    const char* text;
    const char* fault;
  };
  for (const Row& row :
       {Row{"", "not a file of reference tokens"}, Row{"[]", "not a file of reference tokens"},
        Row{"{\"cases\": []}", "not a file of reference tokens"},
        Row{"{\"cases\": [1]}", "cases[0] is not an object"},
        Row{"{\"cases\": [{}]}", "'prompt_ids' is not an array"},
        Row{"{\"cases\": [{\"prompt_ids\": [-1]}]}", "'prompt_ids' contains -1"},
        Row{"{\"cases\": [{\"prompt_ids\": [1.5]}]}", "'prompt_ids' contains 1.5"},
        Row{"{\"cases\": [{\"prompt_ids\": [4294967296]}]}", "'prompt_ids' contains 4294967296"},
        Row{"{\"cases\": [{\"prompt_ids\": [1], \"greedy_ids\": {}}]}",
            "'greedy_ids' is not an array"},
        Row{"{\"cases\": [{\"prompt_ids\": [1], \"greedy_ids\": [1], \"top1_top2_margin\": [1], "
            "\"fp32_teacher_forced_argmax\": [1]}]}",
            "different lengths"},
        Row{"{\"cases\": [{\"prompt_ids\": [\"a\"]}]}", "'prompt_ids' contains \"a\""},
        Row{"{\"cases\": [{\"prompt_ids\": [1], \"greedy_ids\": [1, 2], \"top1_top2_margin\": "
            "[1]}]}",
            "different lengths"},
        Row{"{\"cases\": [{\"prompt_ids\": [], \"greedy_ids\": [1], \"top1_top2_margin\": [1]}]}",
            "the prompt is empty"}}) {
    ASSERT_TRUE(write_file_atomically(path, std::string_view(row.text)));
    const auto read = read_teacher_forced(path);
    ASSERT_FALSE(read) << row.text;
    EXPECT_THAT(read.error().message, HasSubstr(row.fault)) << row.text;
  }
}

TEST(TeacherForced, StopsWhereTheModelFails) {
  const std::vector<TeacherForcedCase> cases = {
      {.prompt = {5}, .chosen = {1}, .margins = {1}, .exact = {}, .exact_margins = {}}};
  const TeacherForcedModel broken = {
      [] {},
      [](std::span<const int32_t>) -> Result<std::span<const float>> {
        return fail(ErrorCode::kDeviceError, "the device is gone");
      }};
  const auto count = compare_teacher_forced(cases, broken, nullptr);
  ASSERT_FALSE(count);
  EXPECT_THAT(count.error().message, HasSubstr("gone"));
}

TEST(TeacherForced, GivesThePromptAtOnceAndThenTokenByToken) {
  std::vector<std::vector<int32_t>> taken;
  std::vector<std::string> told;
  const std::vector<float> logits = {1, 0};
  const TeacherForcedModel model = {
      [&] { taken.push_back({}); },
      [&](std::span<const int32_t> tokens) -> Result<std::span<const float>> {
        taken.emplace_back(tokens.begin(), tokens.end());
        return logits;
      }};
  const std::vector<TeacherForcedCase> cases = {
      {.prompt = {5, 6, 7},
       .chosen = {0, 1, 0},
       .margins = {1, 1, 1},
       .exact = {},
       .exact_margins = {}},
      {.prompt = {8}, .chosen = {}, .margins = {}, .exact = {}, .exact_margins = {}}};
  const auto count = compare_teacher_forced(cases, model, [&](const Event& event) {
    told.push_back(fmt::format("{} {} of {}", event.text, event.done, event.total));
  });
  ASSERT_TRUE(count);
  EXPECT_EQ(count->right, 2);
  EXPECT_EQ(count->of, 3);
  EXPECT_EQ(taken, (std::vector<std::vector<int32_t>>{{}, {5, 6, 7}, {0}, {1}, {}}));
  EXPECT_EQ(told, (std::vector<std::string>{"reference texts 0 of 2", "reference texts 1 of 2"}));
}

}  // namespace
}  // namespace clvet
