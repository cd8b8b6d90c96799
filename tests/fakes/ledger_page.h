// The file that FAKE_CL_LEDGER names.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fake_cl {

enum : size_t {
  kLedgerContexts,
  kLedgerQueues,
  kLedgerMemory,
  kLedgerPrograms,
  kLedgerKernels,
  kLedgerEvents,
  kLedgerSamplers,
  kLedgerKinds
};

struct LedgerPage {
  std::atomic<int64_t> held[kLedgerKinds];  // objects
  std::atomic<int64_t> made[kLedgerKinds];  // ever
  std::atomic<int64_t> bytes, most_bytes;   // of memory objects; the most at a time
};

}  // namespace fake_cl
