// Sessions made and dropped, resized and run, again and again: what stays of them?
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "clvet/clvet.h"
#include "tests/bench/library/common.h"
#include "tests/fakes/ledger_page.h"

namespace library_bench {
namespace {

int64_t resident_bytes() {
  int64_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

const fake_cl::LedgerPage* open_ledger(const std::string& file) {
  if (file.empty()) return nullptr;
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  void* bytes = fd < 0 ? MAP_FAILED
                       : ::mmap(nullptr, sizeof(fake_cl::LedgerPage), PROT_READ, MAP_SHARED, fd, 0);
  if (bytes == MAP_FAILED) give_up("cannot read " + file);
  return static_cast<const fake_cl::LedgerPage*>(bytes);
}

// Wider by `step` on the last axis, so that the network has to be planned anew.
clvet::Shape wider(clvet::Shape shape, int step) {
  shape.back() += int64_t{step} * 4;
  return shape;
}

// Runs of one session, with as many resizes. The answers to the first values, which come back after
// each resize, are the same.
void use(const Setting& setting, clvet::Session& session, int runs, int resizes,
         std::optional<std::vector<float>>& right) {
  for (int part = 0; part <= resizes; ++part) {
    const clvet::Shape shape = wider(setting.shape, part % 2);
    const std::vector<float> values = values_of(shape, 1);
    set(session, setting, shape, values);
    const int count = std::max(1, runs / (resizes + 1));
    for (int i = 0; i < count; ++i) must(session.run());
    if (part % 2 == 1) continue;
    const std::vector<float> answer = answer_of(session);
    if (!right) right = answer;
    if (answer != *right) give_up("an answer differs from the first one");
  }
}

int left_of(const fake_cl::LedgerPage& ledger) {
  static constexpr const char* kNames[] = {"contexts", "queues", "memory",  "programs",
                                           "kernels",  "events", "samplers"};
  int64_t left = 0;
  for (size_t kind = 0; kind < fake_cl::kLedgerKinds; ++kind) {
    std::printf("%s_made %lld\n%s_left %lld\n", kNames[kind],
                static_cast<long long>(ledger.made[kind]), kNames[kind],
                static_cast<long long>(ledger.held[kind]));
    left += ledger.held[kind];
  }
  std::printf("most_bytes %lld\n", static_cast<long long>(ledger.most_bytes));
  if (ledger.made[fake_cl::kLedgerKernels] == 0) give_up("the device was not used");
  return left == 0 && ledger.bytes == 0 ? 0 : 1;
}

}  // namespace

int endurance(const Setting& setting) {
  std::optional<clvet::Context> context = context_of(setting);
  std::optional<std::vector<float>> right;
  std::vector<int64_t> resident;
  for (int i = 0; i < setting.sessions; ++i) {
    auto session = must(clvet::Session::open(setting.model, options_of(setting, context)));
    use(setting, session, setting.runs / setting.sessions, setting.resizes / setting.sessions,
        right);
    resident.push_back(resident_bytes());
  }
  context.reset();
  // The first fifth fills pools and caches.
  const int64_t early = resident[resident.size() / 5], late = resident.back();
  std::printf("resident_early_mib %.1f\nresident_late_mib %.1f\n",
              static_cast<double>(early) / 0x1p20, static_cast<double>(late) / 0x1p20);
  const fake_cl::LedgerPage* ledger = open_ledger(setting.ledger);
  if (ledger && left_of(*ledger) != 0) give_up("something of the driver is left");
  const int64_t allowed = early / 20 + (int64_t{4} << 20);
  if (late - early > allowed) give_up("memory grows");
  return 0;
}

}  // namespace library_bench
