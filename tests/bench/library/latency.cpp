// What a program waits for: values handed over, a run, the outputs read.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ratio>
#include <vector>

#include "clvet/clvet.h"
#include "tests/bench/library/common.h"

namespace library_bench {

int latency(const Setting& setting) {
  auto session = must(clvet::Session::open(setting.model, options_of(setting)));
  const std::vector<float> values = values_of(setting.shape, 1);
  std::vector<double> ms;
  for (int i = 0; i < setting.runs + 2; ++i) {
    const auto started = std::chrono::steady_clock::now();
    set(session, setting, setting.shape, values);
    must(session.run());
    const std::vector<float> answer = answer_of(session);
    const auto took = std::chrono::steady_clock::now() - started;
    if (i >= 2) ms.push_back(std::chrono::duration<double, std::milli>(took).count());
  }
  std::sort(ms.begin(), ms.end());
  std::printf("min_ms %.4f\nmedian_ms %.4f\n", ms.front(), ms[ms.size() / 2]);
  return 0;
}

}  // namespace library_bench
