#include "tests/fakes/ledger.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "tests/fakes/dispatch.h"
#include "tests/fakes/ledger_page.h"
#include "tests/fakes/tracker.h"

namespace fake_cl {
namespace {

LedgerPage* open_page() {
  const char* file = std::getenv("FAKE_CL_LEDGER");
  if (!file) return nullptr;
  const int fd = ::open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  void* bytes = MAP_FAILED;
  if (fd >= 0 && ::ftruncate(fd, sizeof(LedgerPage)) == 0)
    bytes = ::mmap(nullptr, sizeof(LedgerPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (bytes == MAP_FAILED) {
    std::fprintf(stderr, "fake_cl: cannot keep the ledger %s\n", file);
    ::_exit(99);
  }
  return static_cast<LedgerPage*>(bytes);
}

int64_t bytes_of(const void* object) {
  size_t bytes = 0;
  real<Fn::clGetMemObjectInfo>()(static_cast<cl_mem>(const_cast<void*>(object)), CL_MEM_SIZE,
                                 sizeof bytes, &bytes, nullptr);
  return static_cast<int64_t>(bytes);
}

}  // namespace

Ledger* Ledger::instance() {
  static LedgerPage* page = open_page();
  static Ledger* ledger = page ? new Ledger(*page) : nullptr;
  return ledger;
}

void Ledger::made(size_t kind, const void* object) {
  const int64_t bytes = kind == kLedgerMemory ? bytes_of(object) : 0;
  const std::lock_guard lock(mutex_);
  held_[object] = {kind, 1, bytes};
  ++page_.held[kind];
  ++page_.made[kind];
  page_.bytes += bytes;
  page_.most_bytes = std::max<int64_t>(page_.most_bytes, page_.bytes);
}

void Ledger::retained(const void* object) {
  const std::lock_guard lock(mutex_);
  if (const auto found = held_.find(object); found != held_.end()) ++found->second.count;
}

void Ledger::released(const void* object) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(object);
  if (found == held_.end() || --found->second.count > 0) return;
  --page_.held[found->second.kind];
  page_.bytes -= found->second.bytes;
  held_.erase(found);
  Tracker::instance().forget(object);
}

void Ledger::note_kernels(cl_program, cl_uint room, cl_kernel* kernels, cl_uint* count) {
  if (!kernels) return;
  const cl_uint kept = count ? std::min(*count, room) : room;
  for (cl_uint i = 0; i < kept; ++i) made(kLedgerKernels, kernels[i]);
}

}  // namespace fake_cl
