// The files that give inputs their values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "runtime/graph/tensor.h"

namespace clvet {

// By the ending, in any case. kRaw: any that says nothing else.
enum class InputFile { kNpy, kPicture, kSound, kRaw };
// kInvalidArgument: a known kind that clvet does not read (.mp3, .bmp, .npz); it says what to do.
Result<InputFile> kind_of_input(const std::string& path);

// What was done to a file, for the user: it waits until the work stays in this process, as another
// process would say it again.
using Notes = std::vector<Event>;
void say(const Notes& notes, const EventSink& sink);
// Of `padding` zeros behind the samples; nothing of 0.
void note_padding(const std::string& path, int64_t padding, Notes& notes);

// The samples of a .wav file, f32 [N], at `rate` samples a second; 0: as in the file.
Result<Tensor> read_sound(const std::string& path, int rate, Notes& notes);

}  // namespace clvet
