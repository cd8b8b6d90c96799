#include "probe/worker/protocol.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/text.h"

namespace clvet {
namespace {

using Header = uint32_t;

tl::unexpected<Error> gone() {
  return fail(ErrorCode::kUnavailable, "the other process has ended");
}

// Puts `fds` beside the message's bytes; `control` must outlive the call of sendmsg.
void attach_fds(msghdr& header, std::vector<std::byte>& control, const std::vector<int>& fds) {
  if (fds.empty()) return;
  control.assign(CMSG_SPACE(sizeof(int) * fds.size()), std::byte{});
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  cmsghdr* entry = CMSG_FIRSTHDR(&header);
  entry->cmsg_level = SOL_SOCKET;
  entry->cmsg_type = SCM_RIGHTS;
  entry->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
  std::memcpy(CMSG_DATA(entry), fds.data(), sizeof(int) * fds.size());
}

void collect_fds(msghdr& header, std::vector<UniqueFd>& fds) {
  for (cmsghdr* entry = CMSG_FIRSTHDR(&header); entry; entry = CMSG_NXTHDR(&header, entry)) {
    if (entry->cmsg_level != SOL_SOCKET || entry->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (entry->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(entry) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
}

// What begins a CBOR item: its major type, and its value, length or count of items.
struct ItemHead {
  unsigned major = 0;
  uint64_t value = 0;
};

std::optional<ItemHead> read_head(std::span<const uint8_t> bytes, size_t& at) {
  if (at == bytes.size()) return std::nullopt;
  const unsigned info = bytes[at] & 31;
  ItemHead head{static_cast<unsigned>(bytes[at] >> 5), info < 24 ? info : 0};
  ++at;
  if (info > 27) return std::nullopt;
  const size_t width = info < 24 ? 0 : size_t{1} << (info - 24);
  if (bytes.size() - at < width) return std::nullopt;
  for (size_t i = 0; i < width; ++i) head.value = head.value << 8 | bytes[at++];
  return head;
}

// One CBOR item as to_cbor writes it: definite lengths, sane sizes, bounded depth. The library's
// reader recurses for each level and throws on absurd lengths; a driver may have written anything.
bool well_formed(std::span<const uint8_t> bytes) {
  constexpr size_t kMaxDepth = 64;
  std::vector<uint64_t> open{1};  // items still to come, a level each
  size_t at = 0;
  while (!open.empty()) {
    if (open.back() == 0) {
      open.pop_back();
      continue;
    }
    --open.back();
    const auto head = read_head(bytes, at);
    if (!head || head->major == 6) return false;  // 6: tags
    const bool text = head->major == 2 || head->major == 3;
    const bool list = head->major == 4, map = head->major == 5;
    if ((text || list || map) && head->value > bytes.size() - at) return false;
    if (text) at += head->value;
    if (list || map) open.push_back(map ? 2 * head->value : head->value);
    if (open.size() > kMaxDepth) return false;
  }
  return at == bytes.size();
}

ssize_t receive(int socket, int flags, std::span<std::byte> bytes, std::vector<UniqueFd>& fds,
                bool& lost_fds) {
  alignas(cmsghdr) std::byte control[CMSG_SPACE(sizeof(int) * kMaxMessageFds)];
  iovec part{bytes.data(), bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const ssize_t count = ::recvmsg(socket, &header, flags);
  if (count > 0) collect_fds(header, fds);
  lost_fds |= count > 0 && (header.msg_flags & MSG_CTRUNC) != 0;
  return count;
}

}  // namespace

Status send_message(int socket, const nlohmann::json& body, const std::vector<int>& fds) {
  std::vector<uint8_t> bytes(sizeof(Header));
  nlohmann::json::to_cbor(body, bytes);
  const auto size = static_cast<Header>(bytes.size() - sizeof(Header));
  if (bytes.size() > kMaxMessageBytes || fds.size() > kMaxMessageFds) {
    return fail(ErrorCode::kInternal, "a message of {} bytes and {} descriptors is too large",
                bytes.size(), fds.size());
  }
  std::memcpy(bytes.data(), &size, sizeof size);
  std::vector<std::byte> control;
  size_t sent = 0;
  while (sent < bytes.size()) {
    iovec part{bytes.data() + sent, bytes.size() - sent};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (sent == 0) attach_fds(header, control, fds);
    const ssize_t count = ::sendmsg(socket, &header, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return gone();
    sent += static_cast<size_t>(count);
  }
  return {};
}

double number_in(const nlohmann::json& body, const char* name, double fallback) {
  const auto found = body.find(name);
  if (found == body.end() || !found->is_number()) return fallback;
  const auto value = found->get<double>();
  return std::isfinite(value) ? value : fallback;
}

std::string text_in(const nlohmann::json& body, const char* name) {
  const auto found = body.find(name);
  return found != body.end() && found->is_string() ? clean_utf8(found->get<std::string>())
                                                   : std::string();
}

bool flag_in(const nlohmann::json& body, const char* name) {
  const auto found = body.find(name);
  return found != body.end() && found->is_boolean() && found->get<bool>();
}

Result<bool> MessageReader::pump(bool may_block) {
  for (;;) {
    std::byte chunk[1 << 16];
    const int flags = MSG_CMSG_CLOEXEC | (may_block ? 0 : MSG_DONTWAIT);
    const ssize_t count = receive(socket_, flags, chunk, fds_, lost_fds_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    if (count <= 0) return gone();
    bytes_.insert(bytes_.end(), chunk, chunk + count);
    if (bytes_.size() < sizeof(Header)) continue;
    Header size = 0;
    std::memcpy(&size, bytes_.data(), sizeof size);
    if (size > kMaxMessageBytes) {
      return fail(ErrorCode::kInvalidArgument,
                  "a message claims to have {} bytes, which is too large", size);
    }
    if (bytes_.size() < sizeof(Header) + size) continue;
    CLVET_RETURN_IF_ERROR(decode());
    return true;
  }
}

Status MessageReader::decode() {
  const auto* first = reinterpret_cast<const uint8_t*>(bytes_.data());
  if (!well_formed({first + sizeof(Header), first + bytes_.size()})) {
    return fail(ErrorCode::kInvalidArgument, "a message is not CBOR");
  }
  message_.body =
      nlohmann::json::from_cbor(first + sizeof(Header), first + bytes_.size(), true, false);
  message_.fds = std::move(fds_);
  message_.lost_fds = std::exchange(lost_fds_, false);
  bytes_.clear();
  fds_.clear();
  if (!message_.body.is_object()) {
    return fail(ErrorCode::kInvalidArgument, "a message is not a CBOR object");
  }
  return {};
}

Message MessageReader::take() { return std::move(message_); }

Result<Message> receive_message(int socket) {
  MessageReader reader(socket);
  for (;;) {
    CLVET_ASSIGN_OR_RETURN(bool whole, reader.pump(true));
    if (whole) return reader.take();
  }
}

}  // namespace clvet
