#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "runtime/llm/sampler.h"
#include "runtime/llm/vocabulary.h"

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The known answers that its authors publish.
TEST(Philox, GivesThePublishedNumbers) {
  EXPECT_THAT(philox({0, 0, 0, 0}, {0, 0}),
              ElementsAre(0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
  EXPECT_THAT(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
              ElementsAre(0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu));
  EXPECT_THAT(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              ElementsAre(0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u));
}

Sampler sampler(const SamplerOptions& options) {
  auto made = Sampler::create(options);
  EXPECT_TRUE(made) << made.error().message;
  return *made;
}

std::map<TokenId, int> counts(const SamplerOptions& options, const std::vector<float>& logits,
                              int draws) {
  std::map<TokenId, int> seen;
  for (int step = 0; step < draws; ++step) {
    const auto id = sampler(options).pick(logits, static_cast<uint64_t>(step));
    EXPECT_TRUE(id);
    ++seen[*id];
  }
  return seen;
}

TEST(Sampler, TakesTheGreatestLogitAndOfEqualOnesTheFirst) {
  EXPECT_EQ(*sampler({}).pick(std::vector<float>{1, 3, 2, 3}, 0), 1);
  EXPECT_EQ(*sampler({.top_k = 1, .seed = 9}).pick(std::vector<float>{-5, -4}, 7), 1);
  EXPECT_EQ(*sampler({.temperature = 1, .top_k = 1}).pick(std::vector<float>{1, 3, 2, 3}, 0), 1);
}

TEST(Sampler, DrawsInProportionToTheProbabilities) {
  const std::vector<float> logits{std::log(1.f), std::log(2.f), std::log(5.f), -INFINITY};
  const int draws = 40000;
  for (const double temperature : {1.0, 0.5}) {
    const double p[] = {std::pow(1, 1 / temperature), std::pow(2, 1 / temperature),
                        std::pow(5, 1 / temperature)};
    const auto seen = counts({.temperature = temperature, .seed = 3}, logits, draws);
    EXPECT_EQ(seen.count(3), 0u);
    for (TokenId id = 0; id < 3; ++id) {
      const double want = p[id] / (p[0] + p[1] + p[2]);
      EXPECT_NEAR(seen.at(id), draws * want, 5 * std::sqrt(draws * want * (1 - want))) << id;
    }
  }
}

TEST(Sampler, KeepsTheMostProbableTokensAlone) {
  const std::vector<float> logits{1, 4, 2, 3, 0};
  const auto kept = [&](const SamplerOptions& options) {
    std::vector<TokenId> ids;
    for (const auto& [id, count] : counts(options, logits, 2000)) ids.push_back(id);
    return ids;
  };
  EXPECT_THAT(kept({.temperature = 5, .top_k = 2}), ElementsAre(1, 3));
  EXPECT_THAT(kept({.temperature = 5, .top_k = 9}), ElementsAre(0, 1, 2, 3, 4));
  // exp(0, -1, -2, -3, -4): 0.636, 0.234, 0.086, 0.032, 0.012
  EXPECT_THAT(kept({.temperature = 1, .top_p = 0.63}), ElementsAre(1));
  EXPECT_THAT(kept({.temperature = 1, .top_p = 0.64}), ElementsAre(1, 3));
  EXPECT_THAT(kept({.temperature = 1, .top_p = 0.88}), ElementsAre(1, 2, 3));
  EXPECT_THAT(kept({.temperature = 1, .top_k = 2, .top_p = 0.7}), ElementsAre(1));
}

// Worked out by hand from the published answer for key 0, counter 0: its low 64 bits are
// 0xe169c58d6627e8d5, 0.8805 of 2^64.
TEST(Sampler, GivesTheSameTokenOnEveryMachine) {
  EXPECT_EQ(random_bits(0, 0), 0xe169c58d6627e8d5u);
  const std::vector<float> even{1, 1, 1, 1, 1, 1, 1, 1, 1, 0.9999999f};
  EXPECT_EQ(*sampler({.temperature = 1e6}).pick(even, 0), 8) << "of ten equal weights the ninth";
}

TEST(Sampler, DependsOnSeedAndStepAlone) {
  const std::vector<float> logits(100, 1.f);
  std::vector<float> sloped(logits);
  sloped[7] = 1.5f;
  const auto run = [&](uint64_t seed) {
    std::vector<TokenId> ids;
    for (uint64_t step = 0; step < 20; ++step) {
      ids.push_back(*sampler({.temperature = 1, .seed = seed}).pick(sloped, step));
    }
    return ids;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(Sampler, NoticesLogitsThatNoModelGives) {
  const auto fault = [](const std::vector<float>& logits) {
    const auto id = sampler({}).pick(logits, 0);
    return id ? std::string("none") : id.error().message;
  };
  EXPECT_THAT(fault({1, NAN, 2}), HasSubstr("not finite (token 1 of 3)"));
  EXPECT_THAT(fault({1, INFINITY}), HasSubstr("not finite"));
  EXPECT_THAT(fault({0, 0, 0}), HasSubstr("the same for all 3 tokens"));
  EXPECT_THAT(fault({-INFINITY, -INFINITY}), HasSubstr("the same"));
  EXPECT_THAT(fault({}), HasSubstr("no logits"));
  EXPECT_EQ(fault({1, -INFINITY}), "none");
  EXPECT_EQ(sampler({}).pick(std::vector<float>{NAN}, 0).error().code, ErrorCode::kDeviceError);
}

TEST(Sampler, RefusesOptionsThatMakeNoSense) {
  for (const SamplerOptions& options :
       {SamplerOptions{.temperature = -1}, SamplerOptions{.temperature = NAN},
        SamplerOptions{.top_k = -1}, SamplerOptions{.top_p = 0}, SamplerOptions{.top_p = 1.5},
        SamplerOptions{.top_p = NAN}}) {
    EXPECT_EQ(Sampler::create(options).error().code, ErrorCode::kInvalidArgument);
  }
}

// The choice as sampler.h defines it, in 128-bit integers and the other way round: every unit of
// weight counted from the front.
TokenId by_definition(const SamplerOptions& options, const std::vector<float>& logits,
                      uint64_t step) {
  std::vector<TokenId> order;
  for (size_t i = 0; i < logits.size(); ++i) order.push_back(static_cast<TokenId>(i));
  const auto logit = [&](TokenId id) {
    return static_cast<double>(logits[static_cast<size_t>(id)]);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](TokenId a, TokenId b) { return logit(a) > logit(b); });
  const double greatest = logit(order[0]);
  if (options.top_k > 0 && order.size() > static_cast<size_t>(options.top_k)) {
    order.resize(static_cast<size_t>(options.top_k));
  }
  std::vector<uint64_t> weights;
  uint64_t all = 0, kept = 0;
  for (const TokenId id : order) {
    const double share = std::exp((logit(id) - greatest) / options.temperature);
    weights.push_back(static_cast<uint64_t>(std::ldexp(share, 40)));
    all += weights.back();
  }
  size_t count = 0;
  while (count < order.size() &&
         (count == 0 || static_cast<double>(kept) < options.top_p * static_cast<double>(all))) {
    kept += weights[count++];
  }
  __extension__ using Wide = unsigned __int128;
  auto draw = static_cast<uint64_t>(Wide{random_bits(options.seed, step)} * kept >> 64);
  for (size_t i = 0; i < count; ++i) {
    if (draw < weights[i]) return order[i];
    draw -= weights[i];
  }
  return kNoToken;
}

TEST(Sampler, ChoosesAsItIsDefined) {
  uint32_t state = 9;
  const auto next = [&] { return state = state * 1664525u + 1013904223u; };
  for (const SamplerOptions& options :
       {SamplerOptions{.temperature = 1}, SamplerOptions{.temperature = 0.3, .seed = ~0ull},
        SamplerOptions{.temperature = 2, .top_k = 3},
        SamplerOptions{.temperature = 1, .top_p = 0.5},
        SamplerOptions{.temperature = 50, .top_k = 20, .top_p = 0.9, .seed = 5},
        SamplerOptions{.temperature = 1e-3}, SamplerOptions{.temperature = 1e-320},
        SamplerOptions{.temperature = 1e308, .top_k = 1000}}) {
    const Sampler made = sampler(options);
    for (uint64_t step = 0; step < 60; ++step) {
      std::vector<float> logits;
      // Few values, so that ties are frequent; some words are ruled out.
      for (int i = 0; i < 40; ++i) logits.push_back(static_cast<float>(next() >> 29));
      logits[next() % 40] = -INFINITY;
      logits[next() % 40] = 7.5f;
      const auto id = made.pick(logits, step * 0x123456789abcull);
      ASSERT_TRUE(id) << id.error().message;
      ASSERT_EQ(*id, by_definition(options, logits, step * 0x123456789abcull))
          << options.temperature << " step " << step;
    }
  }
}

TEST(Sampler, GivesTheOnlyToken) {
  for (const double temperature : {0.0, 1.0}) {
    EXPECT_EQ(*sampler({.temperature = temperature}).pick(std::vector<float>{-3}, 5), 0);
  }
  EXPECT_EQ(*sampler({.temperature = 9, .top_p = 1e-300}).pick(std::vector<float>{1, 2, 1}, 0), 1);
}

}  // namespace
}  // namespace clvet
