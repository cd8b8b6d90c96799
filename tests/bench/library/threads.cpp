// Threads with a session each, beside the same sessions one after the other.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <thread>
#include <vector>

#include "clvet/clvet.h"
#include "tests/bench/library/common.h"

namespace library_bench {
namespace {

using Answers = std::vector<std::vector<float>>;  // by session

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double seconds_of(const auto& work) {
  const auto started = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
}

// Each run has values of its own; the sum of all answers tells them apart.
void use(const Setting& setting, clvet::Session& session, uint32_t first,
         std::vector<float>& answer) {
  for (int i = 0; i < setting.runs; ++i) {
    const std::vector<float> values =
        values_of(setting.shape, first + static_cast<uint32_t>(i % 8));
    set(session, setting, setting.shape, values);
    must(session.run());
    const std::vector<float> got = answer_of(session);
    if (answer.empty()) answer.resize(got.size());
    for (size_t k = 0; k < got.size(); ++k) answer[k] += got[k];
  }
}

}  // namespace

int threads(const Setting& setting) {
  const std::optional<clvet::Context> context = context_of(setting);
  std::vector<clvet::Session> sessions;
  for (int i = 0; i < setting.sessions; ++i) {
    sessions.push_back(must(clvet::Session::open(setting.model, options_of(setting, context))));
    must(sessions.back().resize({{setting.input, setting.shape}}));
    must(sessions.back().warm_up());
  }
  const auto count = static_cast<size_t>(setting.sessions);
  Answers serial(count), parallel(count);
  const auto in_turn = [&] {
    for (size_t i = 0; i < count; ++i)
      use(setting, sessions[i], static_cast<uint32_t>(i), serial[i]);
  };
  const auto side_by_side = [&] {
    std::vector<std::jthread> workers;
    for (size_t i = 0; i < count; ++i)
      workers.emplace_back(
          [&, i] { use(setting, sessions[i], static_cast<uint32_t>(i), parallel[i]); });
  };
  // In turn, so that what else the machine does falls out of the ratio.
  std::vector<double> alone, together, ratios;
  for (int round = 0; round < setting.rounds; ++round) {
    alone.push_back(seconds_of(in_turn));
    together.push_back(seconds_of(side_by_side));
    ratios.push_back(alone.back() / together.back());
  }
  std::printf("serial_s %.3f\nparallel_s %.3f\nthroughput_ratio %.3f\n", median(alone),
              median(together), median(ratios));
  if (serial != parallel) give_up("answers differ from those of one thread");
  return 0;
}

}  // namespace library_bench
