#include "runtime/media/wav.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "probe/diagnose/fix_script.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

constexpr size_t kMaxFile = size_t{1} << 34;
constexpr uint32_t kInDs64 = 0xFFFFFFFF;
constexpr uint16_t kPcm = 1, kFloat = 3, kExtensible = 0xFFFE;
// Behind the format's number in the identity of an extensible format.
constexpr std::string_view kIdentity("\0\0\0\0\x10\0\x80\0\0\xAA\0\x38\x9B\x71", 14);

struct Compression {
  uint16_t tag;
  const char* name;
};
constexpr Compression kCompressions[] = {
    {0x02, "Microsoft ADPCM"},
    {0x06, "A-law"},
    {0x07, "mu-law"},
    {0x11, "IMA ADPCM"},
    {0x31, "GSM 6.10"},
    {0x45, "G.726"},
    {0x50, "MPEG"},
    {0x55, "MP3"},
    {0xFF, "AAC"},
    {0x161, "WMA"},
    {0x2000, "AC-3"},
    {0x674F, "Vorbis"},
    {0x704F, "Opus"},
    {0xF1AC, "FLAC"},
};

template <class... Args>
tl::unexpected<Error> bad(const std::string& name, fmt::format_string<Args...> text,
                          Args&&... args) {
  return fail(ErrorCode::kInvalidArgument, "{}: {}", one_line(name, 300),
              fmt::format(text, std::forward<Args>(args)...));
}

// Little-endian; the bytes are there.
template <class T>
T number_at(std::string_view bytes, size_t at) {
  T value = 0;
  for (size_t i = sizeof(T); i-- > 0;)
    value = static_cast<T>(value << 8 | static_cast<unsigned char>(bytes[at + i]));
  return value;
}

struct Format {
  uint16_t tag = 0;
  int channels = 0;
  int64_t rate = 0;
  size_t frame = 0;  // bytes of one sample of all channels
  int bits = 0;
  size_t bytes() const { return static_cast<size_t>(bits) / 8; }
};

// Each sample of the file as a number; NaN and infinities of floats stay.
double sample_at(std::string_view bytes, size_t at, const Format& format) {
  if (format.tag == kFloat && format.bits == 64)
    return std::bit_cast<double>(number_at<uint64_t>(bytes, at));
  if (format.tag == kFloat) return std::bit_cast<float>(number_at<uint32_t>(bytes, at));
  if (format.bits == 8) return (number_at<uint8_t>(bytes, at) - 128) / 128.0;
  uint32_t high = 0;
  for (size_t i = format.bytes(); i-- > 0;)
    high = high << 8 | static_cast<unsigned char>(bytes[at + i]);
  high <<= 32 - format.bits;
  return static_cast<int32_t>(high) / 2147483648.0;
}

std::string convert_hint(const std::string& name) {
  return fmt::format("ffmpeg -i {} -c:a pcm_s16le out.wav", shell_word(one_line(name, 300)));
}

Status check_tag(const Format& format, const std::string& name) {
  for (const Compression& known : kCompressions) {
    if (known.tag == format.tag)
      return bad(name, "its samples are compressed ({}); convert it: {}", known.name,
                 convert_hint(name));
  }
  if (format.tag != kPcm && format.tag != kFloat)
    return bad(name,
               "its samples have the format 0x{:04x}, which clvet cannot read; convert it: {}",
               format.tag, convert_hint(name));
  const bool known = format.tag == kFloat
                         ? format.bits == 32 || format.bits == 64
                         : format.bits % 8 == 0 && format.bits >= 8 && format.bits <= 32;
  if (!known)
    return bad(name, "its samples have {} bits, which clvet cannot read; convert it: {}",
               format.bits, convert_hint(name));
  return {};
}

Result<Format> parse_format(std::string_view chunk, const std::string& name) {
  if (chunk.size() < 16) return bad(name, "its 'fmt ' chunk is too short; the file is damaged");
  Format format;
  format.tag = number_at<uint16_t>(chunk, 0);
  format.channels = number_at<uint16_t>(chunk, 2);
  format.rate = number_at<uint32_t>(chunk, 4);
  format.frame = number_at<uint16_t>(chunk, 12);
  format.bits = number_at<uint16_t>(chunk, 14);
  if (format.tag == kExtensible) {
    if (chunk.size() < 40 || chunk.substr(26, 14) != kIdentity)
      return bad(name, "its samples have a format that clvet cannot read; convert it: {}",
                 convert_hint(name));
    format.tag = number_at<uint16_t>(chunk, 24);
  }
  CLVET_RETURN_IF_ERROR(check_tag(format, name));
  if (format.channels == 0 || format.rate == 0)
    return bad(name, "its header says {} channels at {} Hz; the file is damaged", format.channels,
               format.rate);
  if (format.frame != static_cast<size_t>(format.channels) * format.bytes())
    return bad(name,
               "its header says {} channels of {} bits in {} bytes, which contradict each other; "
               "the file is damaged",
               format.channels, format.bits, format.frame);
  return format;
}

// Lengths that writers leave in the header where they could not come back to it.
bool is_placeholder(uint64_t length) {
  return length == 0 || length == 0x7FFFF000 || length == 0x7FFFFFFF || length == 0x80000000 ||
         length == 0xFFFFFFFF || length == ~uint64_t{0};
}

// What a file is made of, chunk by chunk, up to its samples.
class Chunks {
 public:
  Chunks(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  Result<Sound> read() {
    const std::string_view kind = bytes_.substr(0, 4);
    if (kind == "RIFX")
      return bad(name_, "its numbers are big-endian (RIFX); convert it: {}", convert_hint(name_));
    if (bytes_.size() < 12 || (kind != "RIFF" && kind != "RF64") || bytes_.substr(8, 4) != "WAVE")
      return bad(name_, "not a WAVE file; convert it: {}", convert_hint(name_));
    whole_ = number_at<uint32_t>(bytes_, 4);
    for (at_ = 12; at_ + 8 <= bytes_.size();) {
      const std::string_view id = bytes_.substr(at_, 4);
      const uint32_t length = number_at<uint32_t>(bytes_, at_ + 4);
      const std::string_view rest = bytes_.substr(at_ + 8);
      if (id == "data") return samples_in(rest, length);
      if (length > rest.size()) break;
      if (id == "fmt ") {
        CLVET_ASSIGN_OR_RETURN(format_, parse_format(rest.substr(0, length), name_));
      }
      if (kind == "RF64" && id == "ds64" && length >= 16)
        long_length_ = number_at<uint64_t>(rest, 8);
      at_ += 8 + size_t{length} + length % 2;
    }
    return bad(name_, "the file ends before its samples; copy it again");
  }

 private:
  // `rest`: what follows the chunk's header.
  Result<Sound> samples_in(std::string_view rest, uint32_t said) {
    if (!format_) return bad(name_, "its samples come before their format; the file is damaged");
    const uint64_t length = said == kInDs64 && long_length_ ? *long_length_ : said;
    // A length of 0 is true where the rest of the header was completed.
    const bool open = is_placeholder(length) && length != rest.size() &&
                      (length > rest.size() || is_placeholder(whole_));
    if (!open && length > rest.size())
      return bad(name_, "its header says {} bytes of samples, but the file has {}; copy it again",
                 length, rest.size());
    size_t bytes = open ? rest.size() : static_cast<size_t>(length);
    if (!open && bytes % format_->frame != 0)
      return bad(name_,
                 "its header says {} bytes of samples, but {} channels of {} bits take {}; "
                 "the file is damaged",
                 bytes, format_->channels, format_->bits, format_->frame);
    bytes -= bytes % format_->frame;
    if (bytes == 0) return bad(name_, "the file holds no samples; record it again");
    Sound sound{.rate = format_->rate, .channels = format_->channels, .open = open};
    CLVET_ASSIGN_OR_RETURN(sound.samples, mixed(rest.substr(0, bytes)));
    return sound;
  }

  // The mean of the channels.
  Result<Tensor> mixed(std::string_view data) const {
    const size_t count = data.size() / format_->frame;
    CLVET_ASSIGN_OR_RETURN(Tensor samples,
                           Tensor::create(DType::kF32, {static_cast<int64_t>(count)}));
    float* out = samples.data<float>();
    for (size_t i = 0; i < count; ++i) {
      double sum = 0;
      for (size_t at = i * format_->frame; at < (i + 1) * format_->frame; at += format_->bytes())
        sum += sample_at(data, at, *format_);
      out[i] = static_cast<float>(sum / format_->channels);
      if (!std::isfinite(out[i]))
        return bad(name_, "its sample {} is not a finite number; the file is damaged", i);
    }
    return samples;
  }

  std::string_view bytes_;
  const std::string& name_;
  size_t at_ = 0;
  uint32_t whole_ = 0;
  std::optional<Format> format_;
  std::optional<uint64_t> long_length_;
};

}  // namespace

Result<Sound> parse_wav(std::string_view bytes, const std::string& name) {
  return Chunks(bytes, name).read();
}

Result<Sound> read_wav(const std::string& path) {
  CLVET_ASSIGN_OR_RETURN(const std::string bytes, read_file(path, kMaxFile));
  return parse_wav(bytes, path);
}

}  // namespace clvet
