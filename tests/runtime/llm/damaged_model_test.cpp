// Language models with random damage: hyper-parameters, vocabulary and table are read or refused,
// and what is read runs.
#include <gmock/gmock.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "runtime/llm/arch.h"
#include "runtime/llm/host_decoder.h"
#include "runtime/llm/token_feed.h"
#include "runtime/llm/tokenizer.h"
#include "runtime/llm/vocabulary.h"
#include "runtime/llm/weights.h"
#include "tests/runtime/gguf/damage.h"
#include "tests/runtime/gguf/gguf_builder.h"
#include "tests/runtime/llm/model_files.h"
#include "tests/runtime/llm/tokenizer_files.h"

namespace clvet {
namespace {

// What reading a damaged file says; empty where it is still a model.
std::string fault_in_model(const std::string& bytes) {
  const auto file = test::parse_gguf(bytes);
  if (!file) return file.error().message;
  const auto config = load_config(*file);
  if (!config) return config.error().message;
  const auto tokenizer = Tokenizer::create(file->metadata());
  if (!tokenizer) return tokenizer.error().message;
  const auto ids = tokenizer->encode("a text <|im_end|> \xE2\x82\xAC");
  if (!ids) return ids.error().message;
  for (TokenId id = -1; id < 10; ++id) (void)tokenizer->bytes(id, true);
  const LlmWeights weights(*file, *config);
  const auto decoder = HostDecoder::create(*config, weights, 2);
  if (!decoder) return decoder.error().message;
  const std::vector<int32_t> tokens = {0, 1, 2};
  const auto logits = TokenFeed(**decoder, *config, weights, 2).take(tokens);
  return logits ? "" : logits.error().message;
}

class DamagedModel : public testing::TestWithParam<const char*> {};

TEST_P(DamagedModel, IsReadOrRefusedInOneLine) {
  const auto whole = test::tiny_model(GetParam(), {.layers = 1});
  std::mt19937_64 random(5);
  const test::MemoryLimit limit;
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string fault = fault_in_model(test::damaged(whole, random));
    refused += !fault.empty();
    ASSERT_THAT(fault, testing::Not(testing::HasSubstr("\n"))) << i;
  }
  EXPECT_GT(refused, 500);
}

INSTANTIATE_TEST_SUITE_P(Architectures, DamagedModel, testing::Values("llama", "gemma3"));

TEST(DamagedVocabulary, OfSentencePieceIsReadOrRefusedInOneLine) {
  const auto whole = test::vocabulary_file("spm");
  std::mt19937_64 random(6);
  const test::MemoryLimit limit;
  for (int i = 0; i < 1000; ++i) {
    const std::string bytes = test::damaged(whole, random);
    const auto file = test::parse_gguf(bytes);
    if (!file) continue;
    const auto tokenizer = Tokenizer::create(file->metadata());
    if (tokenizer) (void)tokenizer->encode("the lazy dog\n\n <s> \xE2\x82\xAC");
  }
}

}  // namespace
}  // namespace clvet
