#include "runtime/host/cancel.h"

#include <atomic>

namespace clvet {
namespace {

thread_local const std::atomic<bool>* current = nullptr;

}  // namespace

CancelScope::CancelScope(const std::atomic<bool>* flag) : before_(current) { current = flag; }
CancelScope::~CancelScope() { current = before_; }

bool cancel_requested() { return current && current->load(std::memory_order_relaxed); }

}  // namespace clvet
