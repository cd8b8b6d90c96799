#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "base/fd.h"
#include "base/result.h"
#include "tests/support.h"

namespace clvet {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(UniqueFd, ClosesOnceAndMoves) {
  int number = -1;
  {
    UniqueFd fd(::open("/dev/null", O_RDONLY));
    number = fd.get();
    UniqueFd moved(std::move(fd));
    EXPECT_FALSE(fd.valid());  // NOLINT(bugprone-use-after-move): that is the question
    EXPECT_TRUE(is_open(number));
    UniqueFd& same = moved;
    moved = std::move(same);
    EXPECT_TRUE(is_open(number)) << "assigned to itself";
  }
  EXPECT_FALSE(is_open(number));
}

TEST(MakeMemfd, CanBeWrittenButNeitherShrunkNorGrown) {
  const auto fd = make_memfd("test", 8192);
  ASSERT_TRUE(fd);
  auto mapping = Mapping::of(fd->get(), 8192, true);
  ASSERT_TRUE(mapping);
  mapping->bytes()[8191] = std::byte{7};
  EXPECT_EQ(::ftruncate(fd->get(), 4096), -1);
  EXPECT_EQ(::ftruncate(fd->get(), 16384), -1);
  const auto again = Mapping::of(fd->get(), 8192, false);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->bytes()[8191], std::byte{7});
}

TEST(MakeSealedMemfd, HoldsTheBytesAgainstEveryChange) {
  const std::string text = "sealed";
  const auto fd = make_sealed_memfd("test", std::as_bytes(std::span(text)));
  ASSERT_TRUE(fd);
  EXPECT_EQ(::write(fd->get(), "x", 1), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::ftruncate(fd->get(), 0), -1);
  EXPECT_EQ(::fcntl(fd->get(), F_ADD_SEALS, F_SEAL_GROW), -1) << "the seals are sealed";
  EXPECT_FALSE(Mapping::of(fd->get(), text.size(), true)) << "no writable mapping";
  const auto mapping = Mapping::of(fd->get(), text.size(), false);
  ASSERT_TRUE(mapping);
  EXPECT_EQ(std::memcmp(mapping->bytes().data(), text.data(), text.size()), 0);
}

TEST(MakeSealedMemfd, MayBeEmpty) { EXPECT_TRUE(make_sealed_memfd("test", {})); }

TEST(Mapping, RefusesAFileShorterThanPromised) {
  const test::TempDir dir;
  test::put(dir / "short", "1234");
  const UniqueFd fd(::open((dir / "short").c_str(), O_RDWR));
  const auto mapping = Mapping::of(fd.get(), 5, false);
  ASSERT_FALSE(mapping);
  EXPECT_EQ(mapping.error().code, ErrorCode::kResourceExhausted);
  EXPECT_TRUE(Mapping::of(fd.get(), 4, false));
  EXPECT_TRUE(Mapping::of(fd.get(), 0, false));
  EXPECT_FALSE(Mapping::of(-1, 4, false));
}

TEST(Mapping, WithoutWriteAccessIsNoWayIntoTheFile) {
  const auto fd = make_memfd("test", 4096);
  const auto read_only = Mapping::of(fd->get(), 4096, false);
  ASSERT_TRUE(read_only);
  auto writable = Mapping::of(fd->get(), 4096, true);
  writable->bytes()[0] = std::byte{9};
  EXPECT_EQ(read_only->bytes()[0], std::byte{9}) << "it sees what others write";
}

}  // namespace
}  // namespace clvet
