// clvet_library_bench endurance|threads|latency MODEL INPUT=1x3x48x192 [NAME=VALUE...]: what
// programs of the public library do for long, from many threads, and how fast. Prints figures as
// NAME VALUE lines; ends with 1 where an answer differs, memory grows or something of the driver is
// left.
//
// NAME=VALUE: device, report, state_dir, sessions, runs, resizes, rounds, share (1: one context),
// ledger (the file of FAKE_CL_LEDGER).
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "clvet/clvet.h"
#include "tests/bench/library/common.h"

namespace library_bench {

void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

void must(const clvet::Status& status) {
  if (!status) give_up(status.error().message);
}

std::optional<clvet::Context> context_of(const Setting& setting) {
  if (!setting.share) return std::nullopt;
  return must(clvet::Context::open({setting.report, setting.state_dir}));
}

clvet::SessionOptions options_of(const Setting& setting,
                                 const std::optional<clvet::Context>& context) {
  clvet::SessionOptions options;
  options.device = setting.device;
  options.context = context;
  if (!context) {
    options.report = setting.report;
    options.state_dir = setting.state_dir;
  }
  options.warning = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); };
  return options;
}

std::vector<float> values_of(const clvet::Shape& shape, uint32_t seed) {
  const int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies());
  std::vector<float> values(static_cast<size_t>(count));
  uint32_t state = seed * 2654435761U + 1;
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8) * 0x1p-23F - 1;
  }
  return values;
}

void set(clvet::Session& session, const Setting& setting, const clvet::Shape& shape,
         const std::vector<float>& values) {
  const std::shared_ptr<const void> lent(values.data(), [](const void*) {});
  must(session.set({{setting.input, {clvet::DataType::f32, shape, lent}}}));
}

std::vector<float> answer_of(clvet::Session& session) {
  const std::string name = must(session.outputs()).front().name;
  const clvet::Mapping mapped = must(session.map(name, clvet::Access::read));
  const auto values = must(mapped.as<const float>());
  return {values.begin(), values.end()};
}

}  // namespace library_bench

namespace {

std::pair<std::string, std::string> parts_of(const std::string& word) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos) library_bench::give_up(word + " is no NAME=VALUE");
  return {word.substr(0, equals), word.substr(equals + 1)};
}

library_bench::Setting setting_of(int argc, char** argv) {
  library_bench::Setting setting;
  setting.model = argv[2];
  const auto [input, sizes] = parts_of(argv[3]);
  setting.input = input;
  std::istringstream text(sizes);
  for (std::string size; std::getline(text, size, 'x');) setting.shape.push_back(std::stoll(size));
  const std::map<std::string, std::string*> words = {{"device", &setting.device},
                                                     {"report", &setting.report},
                                                     {"state_dir", &setting.state_dir},
                                                     {"ledger", &setting.ledger}};
  const std::map<std::string, int*> numbers = {{"sessions", &setting.sessions},
                                               {"runs", &setting.runs},
                                               {"resizes", &setting.resizes},
                                               {"rounds", &setting.rounds}};
  for (int i = 4; i < argc; ++i) {
    const auto [name, value] = parts_of(argv[i]);
    if (words.count(name)) {
      *words.at(name) = value;
    } else if (numbers.count(name)) {
      *numbers.at(name) = std::atoi(value.c_str());
    } else if (name == "share") {
      setting.share = value == "1";
    } else {
      library_bench::give_up("there is no " + name);
    }
  }
  return setting;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, int (*)(const library_bench::Setting&)> works = {
      {"endurance", library_bench::endurance},
      {"threads", library_bench::threads},
      {"latency", library_bench::latency}};
  if (argc < 4 || !works.count(argv[1]))
    library_bench::give_up("usage: endurance|threads|latency MODEL INPUT=SHAPE [NAME=VALUE...]");
  return works.at(argv[1])(setting_of(argc, argv));
}
