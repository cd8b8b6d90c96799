#include "cli/input_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/event.h"
#include "base/result.h"
#include "base/text.h"
#include "probe/diagnose/fix_script.h"
#include "runtime/graph/tensor.h"
#include "runtime/media/resample.h"
#include "runtime/media/wav.h"

namespace clvet {
namespace {

constexpr std::string_view kOtherSounds[] = {".aac", ".aif", ".aiff", ".amr",  ".au",  ".flac",
                                             ".m4a", ".mp3", ".ogg",  ".opus", ".wma", ".webm"};
constexpr std::string_view kOtherPictures[] = {".bmp", ".gif",  ".heic", ".ppm",
                                               ".tif", ".tiff", ".webp"};

}  // namespace

Result<InputFile> kind_of_input(const std::string& path) {
  const std::string ending = lower_case(std::filesystem::path(path).extension().string());
  if (ending == ".npy") return InputFile::kNpy;
  if (ending == ".wav" || ending == ".wave") return InputFile::kSound;
  if (ending == ".png" || ending == ".jpg" || ending == ".jpeg") return InputFile::kPicture;
  if (ending == ".npz")
    return fail(ErrorCode::kInvalidArgument,
                "{}: a .npz file holds several arrays; save the one that the input takes with "
                "numpy.save",
                path);
  if (std::ranges::find(kOtherSounds, ending) != std::end(kOtherSounds))
    return fail(ErrorCode::kInvalidArgument,
                "{}: clvet reads no sound but .wav; convert it: ffmpeg -i {} out.wav", path,
                shell_word(path));
  if (std::ranges::find(kOtherPictures, ending) != std::end(kOtherPictures))
    return fail(ErrorCode::kInvalidArgument,
                "{}: clvet reads no pictures but .png and .jpg; convert it", path);
  return InputFile::kRaw;
}

void say(const Notes& notes, const EventSink& sink) {
  for (const Event& note : notes) sink(note);
}

void note_padding(const std::string& path, int64_t padding, Notes& notes) {
  if (padding > 0)
    notes.push_back(
        {EventLevel::kWarning,
         fmt::format("{}: the sound is {} samples shorter than what the model takes; zeros "
                     "follow it",
                     path, padding)});
}

Result<Tensor> read_sound(const std::string& path, int rate, Notes& notes) {
  CLVET_ASSIGN_OR_RETURN(Sound sound, read_wav(path));
  if (sound.open)
    notes.push_back(
        {EventLevel::kWarning,
         fmt::format("{}: its header does not say how long the sound is; it is read to the end of "
                     "the file",
                     path)});
  if (sound.channels > 1)
    notes.push_back({EventLevel::kInfo, fmt::format("{}: the input gets the mean of {} channels",
                                                    path, sound.channels)});
  Tensor samples = std::move(sound.samples);
  if (rate == 0 || rate == sound.rate) {
    notes.push_back({EventLevel::kInfo,
                     fmt::format("{}: {} samples at {} Hz", path, samples.elements(), sound.rate)});
    return samples;
  }
  auto resampled = resample(samples, sound.rate, rate);
  if (!resampled) return wrap(resampled.error(), path);
  notes.push_back({EventLevel::kInfo, fmt::format("{}: {} samples at {} Hz, resampled from {} Hz",
                                                  path, resampled->elements(), rate, sound.rate)});
  return resampled;
}

}  // namespace clvet
