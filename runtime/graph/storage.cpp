#include "runtime/graph/storage.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <vector>

namespace clvet {
namespace {

// The system's allocator serves smaller ones as fast.
constexpr size_t kSmallBytes = size_t{64} << 10;
constexpr size_t kLargestKeptBytes = kMostKeptBytes / 2;

struct Block {
  std::byte* memory;
  size_t bytes;
};

// Eight sizes in each power of two, so that at most an eighth is not used.
size_t size_class(size_t bytes) {
  const size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

// Never destroyed: tensors of static objects may outlive it. A thread that finds the lock taken
// goes to the system's allocator, which also keeps a child of fork() from waiting for a thread that
// it does not have.
class KeptBlocks {
 public:
  // null: none of this size
  std::byte* take(size_t bytes) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return nullptr;
    const auto found = std::find_if(blocks_.rbegin(), blocks_.rend(),
                                    [&](const Block& block) { return block.bytes == bytes; });
    if (found == blocks_.rend()) return nullptr;
    std::byte* memory = found->memory;
    blocks_.erase(std::next(found).base());
    total_ -= bytes;
    return memory;
  }

  // The oldest make room.
  void give(std::byte* memory, size_t bytes) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || blocks_.size() == blocks_.capacity()) return std::free(memory);
    while (total_ + bytes > kMostKeptBytes) drop_oldest();
    blocks_.push_back({memory, bytes});
    total_ += bytes;
  }

  void drop_all() {
    const std::scoped_lock lock(mutex_);
    while (!blocks_.empty()) drop_oldest();
  }

  size_t total() {
    const std::scoped_lock lock(mutex_);
    return total_;
  }

 private:
  void drop_oldest() {
    std::free(blocks_.front().memory);
    total_ -= blocks_.front().bytes;
    blocks_.erase(blocks_.begin());
  }

  std::mutex mutex_;
  // As many as fit: it never grows, so that letting go of a tensor cannot fail.
  std::vector<Block> blocks_ = [] {
    std::vector<Block> blocks;
    blocks.reserve(kMostKeptBytes / kSmallBytes);
    return blocks;
  }();
  size_t total_ = 0;
};

KeptBlocks& kept_blocks() {
  static auto& blocks = *new KeptBlocks;
  return blocks;
}

// What waits gives way when the system has no more.
std::byte* from_system(size_t bytes, bool zero) {
  const auto ask = [=] { return zero ? std::calloc(bytes, 1) : std::malloc(bytes); };
  void* memory = ask();
  if (!memory) {
    kept_blocks().drop_all();
    memory = ask();
  }
  return static_cast<std::byte*>(memory);
}

std::shared_ptr<std::byte> owned(std::byte* memory, auto give_back) {
  return memory ? std::shared_ptr<std::byte>(memory, give_back) : nullptr;
}

std::shared_ptr<std::byte> storage(size_t bytes, bool zero) {
  const size_t asked = bytes < kSmallBytes ? bytes : size_class(bytes);
  if (asked < kSmallBytes || asked > kLargestKeptBytes) {
    return owned(from_system(std::max<size_t>(bytes, 1), zero),
                 [](std::byte* memory) { std::free(memory); });
  }
  std::byte* memory = kept_blocks().take(asked);
  if (!memory)
    memory = from_system(asked, zero);
  else if (zero)
    std::memset(memory, 0, bytes);
  return owned(memory, [asked](std::byte* done) { kept_blocks().give(done, asked); });
}

}  // namespace

std::shared_ptr<std::byte> zeroed_storage(size_t bytes) { return storage(bytes, true); }
std::shared_ptr<std::byte> unset_storage(size_t bytes) { return storage(bytes, false); }

size_t kept_storage_bytes() { return kept_blocks().total(); }

void drop_kept_storage() { kept_blocks().drop_all(); }

}  // namespace clvet
