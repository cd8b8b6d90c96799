#include <gmock/gmock.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/media/wav.h"
#include "tests/runtime/helpers.h"
#include "tests/support.h"

namespace clvet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kPcm = 1, kFloat = 3, kExtensible = 0xFFFE;
constexpr uint64_t kUnknown = 0xFFFFFFFF;

std::string little(uint64_t value, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i);
  return text;
}

std::string chunk(const std::string& id, const std::string& data) {
  return id + little(data.size(), 4) + data + std::string(data.size() % 2, '\0');
}

std::string riff(const std::string& chunks) {
  return "RIFF" + little(4 + chunks.size(), 4) + "WAVE" + chunks;
}

std::string format(int tag, int channels, int bits, uint32_t rate = 16000) {
  const int frame = channels * bits / 8;
  return little(tag, 2) + little(channels, 2) + little(rate, 4) + little(rate * frame, 4) +
         little(frame, 2) + little(bits, 2);
}

std::string extensible(int tag, int channels, int bits) {
  return format(kExtensible, channels, bits) + little(22, 2) + little(bits, 2) + little(3, 4) +
         little(tag, 2) + std::string("\0\0\0\0\x10\0\x80\0\0\xAA\0\x38\x9B\x71", 14);
}

std::string wav(const std::string& fmt, const std::string& data) {
  return riff(chunk("fmt ", fmt) + chunk("data", data));
}

// Two samples of 16 bits, 0.5 and -1.
const std::string kTwo("\0\x40\0\x80", 4);

std::vector<float> samples(const std::string& bytes) {
  const auto sound = parse_wav(bytes, "a.wav");
  EXPECT_TRUE(sound) << sound.error().message;
  return sound ? test::floats(sound->samples) : std::vector<float>();
}

std::string bits_of(float value) { return little(std::bit_cast<uint32_t>(value), 4); }
std::string bits_of(double value) { return little(std::bit_cast<uint64_t>(value), 8); }

TEST(Wav, ReadsEachFormatOfSamples) {
  EXPECT_THAT(samples(wav(format(kPcm, 1, 8), std::string("\x80\xC0\0\xFF", 4))),
              ElementsAre(0, 0.5f, -1, 127 / 128.f));
  EXPECT_THAT(samples(wav(format(kPcm, 1, 16), kTwo)), ElementsAre(0.5f, -1));
  EXPECT_THAT(samples(wav(format(kPcm, 1, 24), std::string("\0\0\x40\0\0\x80\x01\0\0", 9))),
              ElementsAre(0.5f, -1, 1 / 8388608.f));
  EXPECT_THAT(samples(wav(format(kPcm, 1, 32), std::string("\0\0\0\x40\0\0\0\x80", 8))),
              ElementsAre(0.5f, -1));
  EXPECT_THAT(samples(wav(format(kFloat, 1, 32), bits_of(0.25f) + bits_of(-1.5f))),
              ElementsAre(0.25f, -1.5f));
  EXPECT_THAT(samples(wav(format(kFloat, 1, 64), bits_of(0.1) + bits_of(-1.0))),
              ElementsAre(0.1f, -1));
  EXPECT_THAT(samples(wav(extensible(kPcm, 1, 16), kTwo)), ElementsAre(0.5f, -1));
  EXPECT_THAT(samples(wav(extensible(kFloat, 1, 32), bits_of(0.25f))), ElementsAre(0.25f));
}

TEST(Wav, GivesTheMeanOfItsChannels) {
  const auto sound = parse_wav(wav(format(kPcm, 2, 16, 44100), kTwo + kTwo), "a.wav");
  ASSERT_TRUE(sound) << sound.error().message;
  EXPECT_THAT(test::floats(sound->samples), ElementsAre(-0.25f, -0.25f));
  EXPECT_EQ(sound->channels, 2);
  EXPECT_EQ(sound->rate, 44100);
  EXPECT_FALSE(sound->open);
}

TEST(Wav, SkipsChunksThatItDoesNotKnowAlsoOddOnes) {
  const std::string fmt = chunk("fmt ", format(kPcm, 1, 16)), data = chunk("data", kTwo);
  EXPECT_THAT(samples(riff(chunk("LIST", "odd") + fmt + chunk("fact", "four") + data)),
              ElementsAre(0.5f, -1));
  EXPECT_THAT(samples(riff(fmt + data + chunk("LIST", "behind"))), ElementsAre(0.5f, -1));
  EXPECT_THAT(samples(riff(fmt + data).substr(0, 48)), ElementsAre(0.5f, -1));
}

TEST(Wav, ReadsToTheEndWhereItsWriterDidNotKnowTheLength) {
  for (const uint64_t said : {uint64_t{0}, uint64_t{0x7FFFF000}, uint64_t{0x80000000}, kUnknown}) {
    const std::string bytes = "RIFF" + little(said, 4) + "WAVE" +
                              chunk("fmt ", format(kPcm, 1, 16)) + "data" + little(said, 4) + kTwo;
    const auto sound = parse_wav(bytes + "x", "a.wav");
    ASSERT_TRUE(sound) << said << ": " << sound.error().message;
    EXPECT_TRUE(sound->open);
    EXPECT_THAT(test::floats(sound->samples), ElementsAre(0.5f, -1)) << said;
  }
}

TEST(Wav, BelievesALengthOfNoneWhereTheRestOfTheHeaderIsComplete) {
  const auto sound = parse_wav(
      riff(chunk("fmt ", format(kPcm, 1, 16)) + chunk("data", "") + chunk("LIST", "text")),
      "a.wav");
  ASSERT_FALSE(sound);
  EXPECT_THAT(sound.error().message, HasSubstr("holds no samples"));
}

std::string rf64(uint64_t data_length, const std::string& data) {
  return "RF64" + little(kUnknown, 4) + "WAVE" +
         chunk("ds64", little(100, 8) + little(data_length, 8) + little(1, 8) + little(0, 4)) +
         chunk("fmt ", format(kPcm, 1, 16)) + "data" + little(kUnknown, 4) + data;
}

TEST(Wav, ReadsTheLongLengthOfRf64) {
  EXPECT_THAT(samples(rf64(2, kTwo)), ElementsAre(0.5f));
  EXPECT_THAT(samples(rf64(~uint64_t{0}, kTwo)), ElementsAre(0.5f, -1));
  EXPECT_FALSE(parse_wav(rf64(uint64_t{1} << 63, kTwo), "a.wav"));
}

TEST(Wav, ReadsAFileByItsPath) {
  const test::TempDir folder;
  test::put(folder / "a.wav", wav(format(kPcm, 1, 16), kTwo));
  EXPECT_EQ(read_wav(folder / "a.wav").value().samples.elements(), 2);
  EXPECT_EQ(read_wav(folder / "none.wav").error().code, ErrorCode::kNotFound);
}

struct Refusal {
  std::string bytes;
  const char* part;
};

void expect_refused(const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    const auto sound = parse_wav(refusal.bytes, "my a.wav");
    ASSERT_FALSE(sound) << refusal.part;
    EXPECT_EQ(sound.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(sound.error().message, HasSubstr(refusal.part));
    EXPECT_THAT(sound.error().message, HasSubstr("my a.wav: "));
  }
}

TEST(Wav, NamesTheCompressionThatItRefuses) {
  const auto of = [](int tag, int bits) { return wav(format(tag, 1, bits), kTwo); };
  expect_refused({{of(6, 8), "compressed (A-law)"},
                  {of(7, 8), "compressed (mu-law); convert it: ffmpeg -i 'my a.wav'"},
                  {of(2, 4), "compressed (Microsoft ADPCM)"},
                  {of(0x11, 4), "compressed (IMA ADPCM)"},
                  {of(0x55, 0), "compressed (MP3)"},
                  {wav(extensible(7, 1, 8), kTwo), "compressed (mu-law)"},
                  {of(0x1234, 16), "format 0x1234"}});
}

TEST(Wav, RefusesDamageWithAReason) {
  const std::string fmt = chunk("fmt ", format(kPcm, 1, 16)),
                    whole = wav(format(kPcm, 1, 16), kTwo);
  std::string contradiction = format(kPcm, 2, 16), no_rate = format(kPcm, 1, 16, 0);
  contradiction[12] = 2;
  std::string foreign = extensible(kPcm, 1, 16);
  foreign[30] = 'x';
  expect_refused({
      {"", "not a WAVE file"},
      {"RIFF", "not a WAVE file"},
      {"OggS and more of it", "not a WAVE file; convert it: ffmpeg"},
      {"RIFX" + whole.substr(4), "big-endian"},
      {riff(""), "ends before its samples"},
      {riff(fmt), "ends before its samples"},
      {riff(fmt + "data\x04"), "ends before its samples"},
      {riff(chunk("data", kTwo)), "before their format"},
      {riff("LIST" + little(0xFFFFFFF0, 4) + fmt), "ends before its samples"},
      {riff("LIST" + little(0xFFFFFFFF, 4)), "ends before its samples"},
      {whole.substr(0, whole.size() - 1), "says 4 bytes of samples, but the file has 3"},
      {riff(fmt + "data" + little(0x7FFFFFF0, 4) + kTwo), "the file has 4"},
      {wav(format(kPcm, 1, 16), "odd"), "3 bytes of samples, but 1 channels of 16 bits take 2"},
      {wav(format(kPcm, 1, 16), ""), "holds no samples"},
      {riff(fmt + "data" + little(kUnknown, 4)), "holds no samples"},
      {riff(fmt + "data" + little(kUnknown, 4) + "x"), "holds no samples"},
      {riff(chunk("fmt ", "short") + chunk("data", kTwo)), "'fmt ' chunk is too short"},
      {wav(format(kPcm, 0, 16), kTwo), "0 channels at 16000 Hz"},
      {wav(no_rate, kTwo), "1 channels at 0 Hz"},
      {wav(contradiction, kTwo), "2 channels of 16 bits in 2 bytes"},
      {wav(format(kPcm, 1, 12), kTwo), "12 bits"},
      {wav(format(kPcm, 1, 64), bits_of(1.0)), "64 bits"},
      {wav(format(kFloat, 1, 16), kTwo), "16 bits"},
      {wav(foreign, kTwo), "a format that clvet cannot read"},
      {wav(extensible(kPcm, 1, 16).substr(0, 24), kTwo), "a format that clvet cannot read"},
      {wav(format(kFloat, 1, 32), bits_of(1.f) + bits_of(std::numeric_limits<float>::quiet_NaN())),
       "sample 1 is not a finite number"},
      {wav(format(kFloat, 1, 64), bits_of(1e300)), "sample 0 is not a finite number"},
  });
}

TEST(Wav, TakesEveryPartOfAFileWithoutReadingBeyondIt) {
  const std::string whole =
      riff(chunk("LIST", "odd") + chunk("fmt ", extensible(kPcm, 2, 24)) + chunk("data", "123456"));
  ASSERT_TRUE(parse_wav(whole, "a.wav"));
  for (size_t size = 0; size + 1 < whole.size(); ++size) {
    const std::string part = whole.substr(0, size);
    EXPECT_FALSE(parse_wav(std::string_view(part.data(), part.size()), "a.wav")) << size;
  }
}

}  // namespace
}  // namespace clvet
