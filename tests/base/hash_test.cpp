#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace clvet {
namespace {

TEST(Sha256, GivesTheDigestsOfTheStandard) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotCareHowTheBytesAreCut) {
  const std::string text(1000, 'x');
  Sha256 hash;
  for (size_t at = 0, size = 1; at < text.size(); at += size, ++size) {
    hash.add(std::string_view(text).substr(at, size));
  }
  EXPECT_EQ(hash.hex(), sha256_hex(text));
}

TEST(Sha256, KeepsFieldsApart) {
  EXPECT_NE(Sha256().add_field("ab").add_field("c").hex(),
            Sha256().add_field("a").add_field("bc").hex());
  EXPECT_NE(Sha256().add_field("").hex(), Sha256().hex());
}

TEST(Sealed, IsTheTextAgainUnlessAByteIsLostOrChanged) {
  for (const std::string& text : {std::string(), std::string("a\0b", 3)}) {
    const std::string whole = sealed(text);
    EXPECT_EQ(whole.size(), text.size() + kSealSize);
    EXPECT_EQ(unsealed(whole), text);
    for (size_t i = 0; i < whole.size(); ++i) {
      EXPECT_EQ(unsealed(whole.substr(0, i)), std::nullopt) << i;
      std::string changed = whole;
      changed[i] ^= 1;
      EXPECT_EQ(unsealed(changed), std::nullopt) << i;
    }
  }
}

}  // namespace
}  // namespace clvet
