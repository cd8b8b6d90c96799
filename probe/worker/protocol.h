// Messages between supervisor and worker: a length, a CBOR document, and descriptors beside it.
//
// The socket is private to the two; stdout and stderr of a worker belong to the driver.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/json.h"  // IWYU pragma: keep
#include "base/result.h"

namespace clvet {

struct Message {
  nlohmann::json body;
  std::vector<UniqueFd> fds;
  bool lost_fds = false;  // this process could not take all of them: it has too many open
};

inline constexpr size_t kMaxMessageBytes = 16u << 20;
inline constexpr size_t kMaxMessageFds = 32;

// Sends all of it; blocks until the peer has taken it or is gone (kUnavailable).
Status send_message(int socket, const nlohmann::json& body, const std::vector<int>& fds);

// Fields of an untrusted reply: the fallback where one is absent or of another type; text is
// cleaned.
double number_in(const nlohmann::json& body, const char* name, double fallback = 0);
std::string text_in(const nlohmann::json& body, const char* name);
bool flag_in(const nlohmann::json& body, const char* name);

// Collects one message from a socket without ever waiting longer than the bytes at hand.
class MessageReader {
 public:
  explicit MessageReader(int socket) : socket_(socket) {}
  // Reads what is there. True once a whole message is in `take()`. kUnavailable: the peer is gone;
  // kInvalidArgument: what it sent is no message.
  Result<bool> pump(bool may_block);
  Message take();

 private:
  Status decode();
  int socket_;
  std::vector<std::byte> bytes_;
  std::vector<UniqueFd> fds_;
  bool lost_fds_ = false;
  Message message_;
};

// Waits for a whole message; for the worker, which has nothing else to do.
Result<Message> receive_message(int socket);

}  // namespace clvet
