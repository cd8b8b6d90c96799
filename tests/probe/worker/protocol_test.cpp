#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "probe/worker/protocol.h"

namespace clvet {
namespace {

class ProtocolTest : public testing::Test {
 protected:
  void SetUp() override {
    int sockets[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    theirs_ = UniqueFd(sockets[0]);
    mine_ = UniqueFd(sockets[1]);
  }
  void write_raw(const std::string& bytes) {
    ASSERT_EQ(::send(theirs_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  static std::string framed(const std::string& body) {
    const auto size = static_cast<uint32_t>(body.size());
    std::string out(sizeof size, '\0');
    std::memcpy(out.data(), &size, sizeof size);
    return out + body;
  }
  static std::string cbor(const nlohmann::json& json) {
    const auto bytes = nlohmann::json::to_cbor(json);
    return {bytes.begin(), bytes.end()};
  }
  void expect_no_message(const std::string& bytes) {
    SetUp();
    std::thread writer([&] { ::send(theirs_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL); });
    MessageReader reader(mine_.get());
    const auto whole = reader.pump(true);
    mine_ = UniqueFd();
    writer.join();
    ASSERT_FALSE(whole) << bytes.substr(0, 20);
    EXPECT_EQ(whole.error().code, ErrorCode::kInvalidArgument);
  }
  UniqueFd theirs_, mine_;
};

TEST_F(ProtocolTest, CarriesAMessageAndItsDescriptors) {
  const std::string text = "shared";
  const auto shared = make_sealed_memfd("test", std::as_bytes(std::span(text)));
  const nlohmann::json body = {{"do", "trial"}, {"numbers", {1, 2.5, -3}}, {"none", nullptr}};
  ASSERT_TRUE(send_message(theirs_.get(), body, {shared->get(), shared->get()}));
  const auto message = receive_message(mine_.get());
  ASSERT_TRUE(message);
  EXPECT_EQ(message->body, body);
  ASSERT_EQ(message->fds.size(), 2u);
  EXPECT_TRUE(Mapping::of(message->fds[1].get(), text.size(), false));
}

TEST_F(ProtocolTest, PutsAMessageTogetherFromPieces) {
  const std::string bytes = framed(cbor({{"verdict", "pass"}}));
  MessageReader reader(mine_.get());
  for (size_t i = 0; i + 1 < bytes.size(); ++i) {
    write_raw(bytes.substr(i, 1));
    const auto whole = reader.pump(false);
    ASSERT_TRUE(whole);
    EXPECT_FALSE(*whole) << i;
  }
  write_raw(bytes.substr(bytes.size() - 1));
  ASSERT_TRUE(reader.pump(false).value());
  EXPECT_EQ(reader.take().body["verdict"], "pass");
}

TEST_F(ProtocolTest, TakesSeveralMessagesOneAfterAnother) {
  MessageReader reader(mine_.get());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(send_message(theirs_.get(), {{"i", i}}, {}));
    ASSERT_TRUE(reader.pump(true).value());
    EXPECT_EQ(reader.take().body["i"], i);
  }
}

TEST_F(ProtocolTest, NeverWaitsForBytesThatAreNotThere) {
  MessageReader reader(mine_.get());
  EXPECT_FALSE(reader.pump(false).value());
}

TEST_F(ProtocolTest, CarriesALargeMessage) {
  const nlohmann::json body = {{"log", std::string(3 << 20, 'x')}};
  std::thread sender([&] { EXPECT_TRUE(send_message(theirs_.get(), body, {})); });
  const auto message = receive_message(mine_.get());
  sender.join();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->body, body);
}

TEST_F(ProtocolTest, RefusesToSendWhatIsTooLarge) {
  EXPECT_FALSE(send_message(theirs_.get(), {{"log", std::string(kMaxMessageBytes, 'x')}}, {}));
  EXPECT_FALSE(send_message(theirs_.get(), {}, std::vector<int>(kMaxMessageFds + 1, 0)));
}

TEST_F(ProtocolTest, SaysThatThePeerIsGone) {
  theirs_ = UniqueFd();
  MessageReader reader(mine_.get());
  EXPECT_EQ(reader.pump(true).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(send_message(mine_.get(), {{"a", 1}}, {}).error().code, ErrorCode::kUnavailable);
}

TEST_F(ProtocolTest, SaysThatThePeerIsGoneInTheMiddleOfAMessage) {
  write_raw(framed(cbor({{"a", 1}})).substr(0, 6));
  theirs_ = UniqueFd();
  MessageReader reader(mine_.get());
  EXPECT_EQ(reader.pump(true).error().code, ErrorCode::kUnavailable);
}

TEST_F(ProtocolTest, RefusesWhatIsNoMessage) {
  expect_no_message("LLVM ERROR: something printed on our socket");
  expect_no_message(framed(""));
  expect_no_message(framed("not cbor at all"));
  expect_no_message(framed(cbor(nlohmann::json::array({1}))));
  expect_no_message(framed(cbor(3)));
  expect_no_message(framed(cbor({{"a", 1}})) + "and more");
  expect_no_message(std::string("\xFF\xFF\xFF\x7F", 4));
  const std::string whole = cbor({{"key", "value"}, {"list", {1, 2, 3}}});
  for (size_t size = 0; size < whole.size(); ++size)
    expect_no_message(framed(whole.substr(0, size)));
}

TEST_F(ProtocolTest, RefusesCborThatWouldExhaustTheReader) {
  expect_no_message(
      framed("\xA1\x61"
             "a" +
             std::string(1 << 20, '\x81') + "\x01"));
  expect_no_message(
      framed("\xA1\x61"
             "a\x9B\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF"));
  expect_no_message(
      framed("\xA1\x61"
             "a\x9B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"));
  expect_no_message(framed("\xBB\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"));
  expect_no_message(
      framed("\xA1\x61"
             "a\x7B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xF0"
             "abc"));
  expect_no_message(
      framed("\xA1\x61"
             "a" +
             std::string(1 << 20, '\x9F')));
  expect_no_message(
      framed("\xA1\x61"
             "a\xC1\x01"));
}

TEST_F(ProtocolTest, ClosesTheDescriptorsOfAMessageThatIsDropped) {
  const auto shared = make_memfd("test", 16);
  ASSERT_TRUE(send_message(theirs_.get(), {{"a", 1}}, {shared->get()}));
  int number = -1;
  {
    const auto message = receive_message(mine_.get());
    number = message->fds.at(0).get();
    EXPECT_TRUE(::fcntl(number, F_GETFD) & FD_CLOEXEC) << "not for a driver's children";
  }
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST(UntrustedFields, FallBackWhereTheyAreAbsentOrOfAnotherType) {
  const nlohmann::json body = {{"n", 3.5},
                               {"t", "text\xFF\x1B"},
                               {"f", true},
                               {"inf", std::numeric_limits<double>::infinity()}};
  EXPECT_EQ(number_in(body, "n"), 3.5);
  EXPECT_EQ(number_in(body, "t", -1), -1);
  EXPECT_EQ(number_in(body, "inf", -1), -1);
  EXPECT_EQ(text_in(body, "t"), "text\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(text_in(body, "n"), "");
  EXPECT_TRUE(flag_in(body, "f"));
  EXPECT_FALSE(flag_in(body, "n"));
  const nlohmann::json list = nlohmann::json::array();
  EXPECT_EQ(number_in(list, "n", 7), 7);
  EXPECT_EQ(text_in(list, "t"), "");
  EXPECT_FALSE(flag_in(list, "f"));
}

}  // namespace
}  // namespace clvet
