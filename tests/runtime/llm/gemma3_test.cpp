// Gemma 3 270M: its weights are under terms of their own, so only the nightly run fetches them
// (ci/models_nightly.sh). Labelled nightly; disabled in any other run.
#include <gmock/gmock.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/arch.h"
#include "runtime/llm/text_stream.h"
#include "runtime/llm/tokenizer.h"
#include "runtime/llm/vocabulary.h"
#include "tests/runtime/llm/tokenizer_files.h"

namespace clvet {
namespace {

class DISABLED_Gemma3 : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = cache_dir() + "/models/gemma-3-270m-q4_k_m.gguf";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "run 'bash ci/models_nightly.sh' first";
    auto file = GgufFile::open(path);
    ASSERT_TRUE(file) << file.error().message;
    file_ = std::make_unique<GgufFile>(std::move(*file));
  }
  std::unique_ptr<GgufFile> file_;
};

TEST_F(DISABLED_Gemma3, EncodesPromptsAndDecodesAnswersAsTheGoldenFileHasThem) {
  const auto tokenizer = Tokenizer::create(file_->metadata());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const auto cases = test::golden_cases("gemma3-270m-q4_k_m.json");
  ASSERT_EQ(cases.size(), 5u);
  for (const auto& row : cases) {
    const auto ids = tokenizer->encode(row.prompt);
    ASSERT_TRUE(ids);
    EXPECT_EQ(*ids, row.prompt_ids) << row.prompt;
    TextStream stream(*tokenizer, {.control = true});
    std::string text;
    for (const TokenId id : row.greedy_ids) {
      text += stream.push(id);
    }
    EXPECT_EQ(text + stream.finish(), row.text);
  }
}

TEST_F(DISABLED_Gemma3, HasTheConfigurationThatIsPublished) {
  const auto config = load_config(*file_);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->layers, 18);
  EXPECT_EQ(config->width, 640);
  EXPECT_EQ(config->q_width(), 1024);
  EXPECT_EQ(config->kv_width(), 256);
  EXPECT_EQ(config->window, 512);
  EXPECT_EQ(config->window_pattern, 6);
  EXPECT_EQ(config->vocab, 262144);
  EXPECT_EQ(config->rope_base_local, 1e4);
  EXPECT_DOUBLE_EQ(config->attention_scale, 1.0 / 16);
  EXPECT_TRUE(config->tied_head && config->qk_norm && config->post_norms);
}

}  // namespace
}  // namespace clvet
