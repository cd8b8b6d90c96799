// Memory of tensors. What large tensors gave back is kept for the next ones of about their size: a
// network asks for the same sizes in each run, and the system's allocator would give the pages back
// and fetch fresh ones in between.
#pragma once

#include <cstddef>
#include <memory>

namespace clvet {

// At least `bytes`, all zero, aligned as malloc aligns; null if there is none. Any thread may let
// go of it.
std::shared_ptr<std::byte> zeroed_storage(size_t bytes);
// The same, but with anything in it.
std::shared_ptr<std::byte> unset_storage(size_t bytes);

// Bytes that wait for their next user: never more than kMostKeptBytes.
inline constexpr size_t kMostKeptBytes = size_t{64} << 20;
size_t kept_storage_bytes();
// Gives what waits back to the system.
void drop_kept_storage();

}  // namespace clvet
