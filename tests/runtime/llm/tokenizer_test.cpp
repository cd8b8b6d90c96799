// Tokenizers against what tokenizers and sentencepiece make of the same vocabularies
// (tests/data/tokenizers), and against the ids of real models (tests/data/golden).
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/pretokenizer.h"
#include "runtime/llm/text_stream.h"
#include "runtime/llm/tokenizer.h"
#include "runtime/llm/vocabulary.h"
#include "tests/runtime/gguf/gguf_builder.h"
#include "tests/runtime/llm/tokenizer_files.h"

namespace clvet {
namespace {

using test::TokenizerFile;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> words_of(const std::string& pre, const std::string& text) {
  const auto pretokenizer = Pretokenizer::named(pre);
  EXPECT_TRUE(pretokenizer);
  std::vector<std::string_view> words;
  const Status done = pretokenizer->split(text, words);
  EXPECT_TRUE(done) << done.error().message;
  return {words.begin(), words.end()};
}

TEST(Pretokenizer, CutsWordsAsTheReferenceDoes) {
  std::set<std::string> seen;
  for (const auto& [pre, text, words] : test::word_cases()) {
    seen.insert(pre);
    EXPECT_EQ(words_of(pre, text), words) << pre << ": " << text;
    const std::string alias = pre == "qwen2" ? "deepseek-r1-qwen" : pre == "gpt-2" ? "" : pre;
    EXPECT_EQ(words_of(alias, text), words) << "under another name";
  }
  EXPECT_THAT(seen, ElementsAre("gpt-2", "qwen2", "smollm"));
}

TEST(Pretokenizer, SplitsLongRunsOfSpaceAtOnce) {
  const std::string spaces(200000, ' ');
  EXPECT_EQ(words_of("gpt-2", spaces + "x").size(), 2u);
  EXPECT_EQ(words_of("qwen2", spaces).size(), 1u);
}

TEST(Pretokenizer, NamesAnUnknownOneAndThoseThatAreKnown) {
  const auto pretokenizer = Pretokenizer::named("tekken");
  EXPECT_EQ(pretokenizer.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(pretokenizer.error().message,
              testing::AllOf(HasSubstr("'tekken'"), HasSubstr("smollm"), HasSubstr("qwen2")));
}

class SmallVocabulary : public testing::TestWithParam<const char*> {};

TEST_P(SmallVocabulary, GivesTheReferencesIdsAndTheTextBack) {
  const auto cases = test::token_cases(GetParam());
  const TokenizerFile file(test::vocabulary_file(GetParam()));
  ASSERT_GT(cases.size(), 15u);
  for (const auto& [text, ids, wanted] : cases) {
    EXPECT_EQ(file.ids(text), ids) << text;
    TextStream stream(file.get(), {.control = true, .at_start = true});
    std::string decoded;
    for (const TokenId id : ids) decoded += stream.push(id);
    EXPECT_EQ(decoded + stream.finish(), wanted);
  }
}

INSTANTIATE_TEST_SUITE_P(Both, SmallVocabulary, testing::Values("bpe", "spm"));

TEST(Tokenizer, TakesALongWordInGoodTime) {
  const TokenizerFile file(test::vocabulary_file("bpe"));
  EXPECT_EQ(test::text_of(file.get(), file.ids(std::string(100000, 'a'))),
            std::string(100000, 'a'));
}

TEST(Tokenizer, TakesTheNamesOfControlTokensAsTextWhereAUserTypesThem) {
  const TokenizerFile file(test::vocabulary_file("bpe"));
  const std::vector<PromptPart> parts{
      {"<|im_start|>", true}, {"<|im_end|>", false}, {"<|im_end|>", true}};
  const auto ids = file.get().encode(parts);
  ASSERT_TRUE(ids);
  EXPECT_EQ(ids->front(), 0);
  EXPECT_EQ(ids->back(), 1);
  EXPECT_GT(ids->size(), 4u);
  EXPECT_EQ(std::count(ids->begin(), ids->end(), 1), 1);
  EXPECT_EQ(test::text_of(file.get(), *ids), "<|im_start|><|im_end|><|im_end|>");
  EXPECT_EQ(test::text_of(file.get(), *ids, false), "<|im_end|>");
}

TEST(Tokenizer, JoinsPartsToOneTextBeforeItCutsWords) {
  const TokenizerFile file(test::vocabulary_file("bpe"));
  const std::vector<PromptPart> parts{{"the d", true}, {"og", false}};
  EXPECT_EQ(*file.get().encode(parts), file.ids("the dog"));
}

TEST(Tokenizer, KeepsUserDefinedTokensWhole) {
  const TokenizerFile file(test::vocabulary_file("spm"));
  const std::vector<PromptPart> typed{{"a\n\n\nb", false}};
  EXPECT_THAT(*file.get().encode(typed), testing::Contains(3));
}

TEST(Tokenizer, AddsTheTokensThatTheModelWantsAroundAWholeText) {
  test::GgufBuilder builder = test::vocabulary_file("spm");
  builder.put("tokenizer.ggml.add_bos_token", test::gguf_bool(true))
      .put("tokenizer.ggml.add_eos_token", test::gguf_bool(true));
  const TokenizerFile file(builder);
  EXPECT_THAT(file.ids("a"), ElementsAre(1, 265, 2));
  EXPECT_THAT(*file.get().encode("a", false), ElementsAre(265));
  EXPECT_TRUE(file.get().ends(2));
  EXPECT_FALSE(file.get().ends(1));
  EXPECT_FALSE(file.get().ends(-1));
}

TEST(Tokenizer, LeavesOutTheSpaceBeforeTextWhereTheModelWantsNone) {
  test::GgufBuilder builder = test::vocabulary_file("spm");
  builder.put("tokenizer.ggml.add_space_prefix", test::gguf_bool(false));
  const TokenizerFile file(builder);
  EXPECT_THAT(file.ids("x"), ElementsAre(418));
  EXPECT_EQ(test::text_of(file.get(), file.ids(" x")), " x");
}

TEST(Tokenizer, PutsASpaceAfterAControlTokenToo) {
  const TokenizerFile file(test::vocabulary_file("spm"));
  EXPECT_THAT(file.ids("a<s>a"), ElementsAre(265, 1, 265));
}

TEST(Tokenizer, NamesAByteThatTheModelHasNoTokenFor) {
  test::GgufBuilder builder;
  builder.put("tokenizer.ggml.model", test::gguf_text("gpt2"))
      .put("tokenizer.ggml.tokens", test::gguf_texts(std::vector<std::string>{"a", "<unk>"}))
      .put("tokenizer.ggml.token_type", test::gguf_ints({1, 2}))
      .put("tokenizer.ggml.merges", test::gguf_texts(std::vector<std::string>{}));
  const TokenizerFile without(builder);
  const auto ids = without.get().encode("ab");
  ASSERT_FALSE(ids);
  EXPECT_THAT(ids.error().message, HasSubstr("0x62"));
  builder.put("tokenizer.ggml.unknown_token_id", test::gguf_u32(1));
  const TokenizerFile with(builder);
  EXPECT_THAT(with.ids("ab"), ElementsAre(0, 1));
  EXPECT_EQ(with.get().bytes(1), "\xEF\xBF\xBD");
  EXPECT_EQ(with.get().bytes(2), "\xEF\xBF\xBD") << "beyond the vocabulary";
}

TEST(Tokenizer, RefusesTextThatIsNoUtf8) {
  const TokenizerFile file(test::vocabulary_file("bpe"));
  EXPECT_THAT(file.get().encode("a\xFF").error().message, HasSubstr("UTF-8"));
}

struct VocabularyFault {
  const char* name;
  const char* part;
  void (*damage)(test::GgufBuilder& builder);
};

void remove_key(test::GgufBuilder& builder, const std::string& key) {
  std::erase_if(builder.pairs, [&](const auto& pair) { return pair.key == key; });
}

const VocabularyFault kVocabularyFaults[] = {
    {"no_model", "'tokenizer.ggml.model' is missing",
     [](test::GgufBuilder& b) { remove_key(b, "tokenizer.ggml.model"); }},
    {"other_model", "does not support the tokenizer 'bert'",
     [](test::GgufBuilder& b) { b.put("tokenizer.ggml.model", test::gguf_text("bert")); }},
    {"other_words", "does not support the pre-tokenizer 'falcon'",
     [](test::GgufBuilder& b) { b.put("tokenizer.ggml.pre", test::gguf_text("falcon")); }},
    {"no_tokens", "'tokenizer.ggml.tokens' is missing",
     [](test::GgufBuilder& b) { remove_key(b, "tokenizer.ggml.tokens"); }},
    {"empty_tokens", "has 0 tokens",
     [](test::GgufBuilder& b) {
       b.put("tokenizer.ggml.tokens", test::gguf_texts(std::vector<std::string>{}));
     }},
    {"tokens_are_numbers", "should be an array of strings",
     [](test::GgufBuilder& b) { b.put("tokenizer.ggml.tokens", test::gguf_ints({1})); }},
    {"too_few_types", "'tokenizer.ggml.token_type' has 2 entries for 485 tokens",
     [](test::GgufBuilder& b) {
       b.put("tokenizer.ggml.token_type", test::gguf_ints({1, 1}));
     }},
    {"type_nine", "the type 9",
     [](test::GgufBuilder& b) {
       b.put("tokenizer.ggml.token_type", test::gguf_ints(std::vector<int>(485, 9)));
     }},
    {"id_beyond", "'tokenizer.ggml.eos_token_id' is 485",
     [](test::GgufBuilder& b) { b.put("tokenizer.ggml.eos_token_id", test::gguf_u32(485)); }},
    {"bos_unnamed", "adds a token 'bos'",
     [](test::GgufBuilder& b) { b.put("tokenizer.ggml.add_bos_token", test::gguf_bool(true)); }},
    {"no_merges", "'tokenizer.ggml.merges' is missing",
     [](test::GgufBuilder& b) { remove_key(b, "tokenizer.ggml.merges"); }},
    {"merge_of_no_tokens", "merge 0 ('qqq zzz')",
     [](test::GgufBuilder& b) {
       b.put("tokenizer.ggml.merges", test::gguf_texts(std::vector<std::string>{"qqq zzz"}));
     }},
    {"merge_without_space", "merge 0 ('the')",
     [](test::GgufBuilder& b) {
       b.put("tokenizer.ggml.merges", test::gguf_texts(std::vector<std::string>{"the"}));
     }},
    {"scores_missing", "'tokenizer.ggml.scores' is missing",
     [](test::GgufBuilder& b) {
       b.put("tokenizer.ggml.model", test::gguf_text("llama"))
           .put("tokenizer.ggml.add_bos_token", test::gguf_bool(false));
     }},
    {"too_few_scores", "'tokenizer.ggml.scores' has 1 entries",
     [](test::GgufBuilder& b) {
       b.put("tokenizer.ggml.model", test::gguf_text("llama"))
           .put("tokenizer.ggml.scores", test::gguf_floats({1}))
           .put("tokenizer.ggml.add_bos_token", test::gguf_bool(false));
     }},
};

class BrokenVocabulary : public testing::TestWithParam<VocabularyFault> {};

TEST_P(BrokenVocabulary, IsOneLineThatNamesTheFault) {
  test::GgufBuilder builder = test::vocabulary_file("bpe");
  GetParam().damage(builder);
  EXPECT_THAT(TokenizerFile(builder).fault(), HasSubstr(GetParam().part));
}

INSTANTIATE_TEST_SUITE_P(All, BrokenVocabulary, testing::ValuesIn(kVocabularyFaults),
                         [](const auto& info) { return info.param.name; });

// The real vocabulary: ids and texts that llama.cpp gave.
TEST(Smollm2, EncodesPromptsAndDecodesAnswersAsTheGoldenFileHasThem) {
  if (!std::filesystem::exists(test::smollm2_path())) {
    GTEST_SKIP() << "run 'bash ci/setup.sh --test' first";
  }
  const auto file = GgufFile::open(test::smollm2_path());
  ASSERT_TRUE(file) << file.error().message;
  const auto tokenizer = Tokenizer::create(file->metadata());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const auto golden = test::golden_cases("smollm2-135m-q4_1.json");
  ASSERT_EQ(golden.size(), 5u);
  for (const auto& row : golden) {
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
  EXPECT_TRUE(tokenizer->ends(2));
  EXPECT_FALSE(tokenizer->ends(198));
}

// Of two special tokens that begin alike the longer one is meant.
TEST(Tokenizer, TakesTheLongestSpecialToken) {
  test::GgufBuilder builder;
  builder.put("tokenizer.ggml.model", test::gguf_text("gpt2"))
      .put("tokenizer.ggml.tokens",
           test::gguf_texts(std::vector<std::string>{"<", "a", ">", "<a", "<a>", "<|", "ab"}))
      .put("tokenizer.ggml.token_type", test::gguf_ints({1, 1, 1, 3, 3, 4, 1}))
      .put("tokenizer.ggml.merges", test::gguf_texts(std::vector<std::string>{}));
  const TokenizerFile file(builder);
  EXPECT_THAT(file.ids("<a>"), ElementsAre(4));
  EXPECT_THAT(file.ids("<a<a>>"), ElementsAre(3, 4, 2));
  EXPECT_THAT(file.ids("<<|<"), ElementsAre(0, 5, 0));
  const std::vector<PromptPart> typed{{"<a>", false}, {"<|", false}};
  EXPECT_THAT(*file.get().encode(typed), ElementsAre(0, 1, 2, 5))
      << "control tokens are the template's, user-defined ones everybody's";
  EXPECT_THAT(file.ids(""), testing::IsEmpty());
}

TEST(Tokenizer, AppliesMergesInTheOrderOfTheList) {
  const auto ids = [](const std::vector<std::string>& merges, const std::string& text) {
    test::GgufBuilder builder;
    builder.put("tokenizer.ggml.model", test::gguf_text("gpt2"))
        .put("tokenizer.ggml.tokens",
             test::gguf_texts(std::vector<std::string>{"a", "b", "c", "ab", "bc", "abc"}))
        .put("tokenizer.ggml.merges", test::gguf_texts(merges));
    return TokenizerFile(builder).ids(text);
  };
  EXPECT_THAT(ids({"a b", "b c"}, "abc"), ElementsAre(3, 2));
  EXPECT_THAT(ids({"b c", "a b"}, "abc"), ElementsAre(0, 4));
  EXPECT_THAT(ids({"b c", "a bc"}, "abc"), ElementsAre(5));
  EXPECT_THAT(ids({"a b", "b c", "a b"}, "abab"), ElementsAre(3, 3)) << "the first of two counts";
  EXPECT_THAT(ids({}, "abc"), ElementsAre(0, 1, 2));
}

TEST(Tokenizer, EndsAtEosEotAndControlTokensOfThatNameAlone) {
  test::GgufBuilder builder;
  builder.put("tokenizer.ggml.model", test::gguf_text("gpt2"))
      .put("tokenizer.ggml.tokens",
           test::gguf_texts(std::vector<std::string>{"a", "b", "<|im_end|>", "</s>", "<eos>"}))
      .put("tokenizer.ggml.token_type", test::gguf_ints({1, 1, 3, 1, 3}))
      .put("tokenizer.ggml.eos_token_id", test::gguf_u32(0))
      .put("tokenizer.ggml.eot_token_id", test::gguf_u32(1))
      .put("tokenizer.ggml.merges", test::gguf_texts(std::vector<std::string>{}));
  const TokenizerFile file(builder);
  std::vector<TokenId> ends;
  for (TokenId id = -2; id < 7; ++id) {
    if (file.get().ends(id)) ends.push_back(id);
  }
  EXPECT_THAT(ends, ElementsAre(0, 1, 2, 4)) << "</s> is text here";
}

// Bytes in the letters that GPT-2's vocabularies write them in: U+0120 is the space.
TEST(Tokenizer, GivesEveryByteBackThatItsLettersStandFor) {
  const TokenizerFile file(test::vocabulary_file("bpe"));
  std::string all;
  for (int code = 1; code < 0x250; ++code) {
    if (code < 0x80) {
      all += static_cast<char>(code);
    } else {
      all += static_cast<char>(0xC0 | code >> 6);
      all += static_cast<char>(0x80 | (code & 63));
    }
  }
  all += std::string(1, '\0') + "\xF4\x8F\xBF\xBF";
  EXPECT_EQ(test::text_of(file.get(), file.ids(all)), all);
}

}  // namespace
}  // namespace clvet
