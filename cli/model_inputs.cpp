#include "cli/model_inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/whole_number.h"
#include "cli/input_files.h"
#include "cli/options.h"
#include "cli/text_inputs.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/media/image_input.h"
#include "runtime/media/npy.h"
#include "runtime/media/sound_input.h"

namespace clvet {
namespace {

tl::unexpected<Error> bad_option(const std::string& text) {
  return tl::unexpected(Error{ErrorCode::kInvalidArgument, text, 0});
}

Result<std::array<double, 3>> three(const std::vector<double>& values, double fallback,
                                    const char* option) {
  if (values.empty()) return std::array{fallback, fallback, fallback};
  if (values.size() == 1) return std::array{values[0], values[0], values[0]};
  if (values.size() == 3) return std::array{values[0], values[1], values[2]};
  return bad_option(fmt::format("{} takes one value or three, not {}", option, values.size()));
}

Result<ImageOptions> image_options(const InputArguments& arguments) {
  ImageOptions options;
  if (!arguments.image_size.empty()) {
    const std::vector<std::string> words = split(arguments.image_size, 'x');
    const auto width = whole_number(words.front()), height = whole_number(words.back());
    const auto fits = [](std::optional<int64_t> pixels) {
      return pixels && *pixels > 0 && *pixels <= 16384;
    };
    if (words.size() != 2 || !fits(width) || !fits(height)) {
      return bad_option(
          fmt::format("--image-size '{}' is not WIDTHxHEIGHT, e.g. 192x48", arguments.image_size));
    }
    options.width = static_cast<int>(*width);
    options.height = static_cast<int>(*height);
  }
  CLVET_ASSIGN_OR_RETURN(options.mean, three(arguments.mean, 0, "--mean"));
  CLVET_ASSIGN_OR_RETURN(options.scale, three(arguments.scale, 1, "--scale"));
  options.nhwc = arguments.layout == "nhwc";
  options.bgr = arguments.bgr;
  return options;
}

// Pixels, f32, as whole numbers of a byte.
Result<Tensor> as_bytes(const Tensor& pixels, const std::string& name, const std::string& path) {
  const std::span<const float> values = pixels.values<float>();
  const auto [least, most] = std::ranges::minmax_element(values);
  if (!(*least >= -0.5f && *most < 255.5f))
    return bad_option(fmt::format(
        "{}: input '{}' takes u8, but with --mean and --scale the pixels are {} to {}; leave these "
        "options out",
        path, name, *least, *most));
  CLVET_ASSIGN_OR_RETURN(Tensor bytes, Tensor::create(DType::kU8, pixels.shape()));
  std::ranges::transform(values, bytes.data<uint8_t>(),
                         [](float value) { return static_cast<uint8_t>(std::lround(value)); });
  return bytes;
}

Result<Tensor> as_type_of(const Value& value, const Tensor& pixels, const std::string& path) {
  switch (value.dtype.value_or(DType::kF32)) {
    case DType::kF32:
      return pixels;
    case DType::kF16:
    case DType::kBF16:
    case DType::kF64:
      return pixels.cast(*value.dtype);
    case DType::kU8:
      return as_bytes(pixels, value.name, path);
    default:
      return bad_option(
          fmt::format("{}: input '{}' takes {}, but pictures become floats or u8; convert it as "
                      "the model wants it and give a .npy file",
                      path, value.name, to_string(*value.dtype)));
  }
}

// As many channels as the input has, if that is 1; else three.
Result<Tensor> read_picture(const std::string& path, const Value& value, ImageOptions options,
                            const InputArguments& arguments) {
  const size_t axis = options.nhwc ? 3 : 1;
  if (value.shape && value.shape->size() == 4 && (*value.shape)[axis] == 1) {
    options.channels = 1;
    for (const auto* values : {&arguments.mean, &arguments.scale}) {
      if (values->size() > 1)
        return bad_option(
            fmt::format("{}: input '{}' has one channel, but {} has three values; give one", path,
                        value.name, values == &arguments.mean ? "--mean" : "--scale"));
    }
  }
  CLVET_ASSIGN_OR_RETURN(const Tensor pixels, read_image(path, options));
  return as_type_of(value, pixels, path);
}

Result<Tensor> read_sound_input(const std::string& path, const Value& value, int rate,
                                Notes& notes) {
  CLVET_ASSIGN_OR_RETURN(const Tensor samples, read_sound(path, rate, notes));
  CLVET_ASSIGN_OR_RETURN(SoundInput input, sound_input(samples, value, path));
  note_padding(path, input.padding, notes);
  return std::move(input.value);
}

Result<Tensor> read_raw_input(const std::string& path, const Value& value) {
  const auto type = value.type();
  const bool open =
      !type || std::any_of(type->shape.begin(), type->shape.end(), [](int64_t d) { return d < 0; });
  if (open) {
    return bad_option(
        fmt::format("{}: the model leaves the shape of '{}' open, so raw bytes cannot "
                    "fill it; give a .npy file",
                    path, value.name));
  }
  return read_raw(path, *type);
}

Result<Tensor> read_input(const std::string& path, const Value& value,
                          const InputArguments& arguments, const ImageOptions& image,
                          Notes& notes) {
  CLVET_ASSIGN_OR_RETURN(const InputFile kind, kind_of_input(path));
  switch (kind) {
    case InputFile::kNpy:
      return read_npy(path);
    case InputFile::kPicture:
      return read_picture(path, value, image, arguments);
    case InputFile::kSound:
      return read_sound_input(path, value, arguments.sample_rate, notes);
    case InputFile::kRaw:
      break;
  }
  return read_raw_input(path, value);
}

// NAME=1x3x640x640
Result<std::pair<std::string, Shape>> parse_shape(const std::string& text) {
  const size_t equals = text.rfind('=');
  Shape shape;
  if (equals != std::string::npos) {
    for (const std::string& word : split(std::string_view(text).substr(equals + 1), 'x')) {
      const auto extent = whole_number(word);
      if (!extent || *extent < 0) {
        shape.clear();
        break;
      }
      shape.push_back(*extent);
    }
  }
  if (shape.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "--shape '{}' is not NAME=EXTENTxEXTENT..., e.g. x=1x3x320x320", text);
  }
  return std::pair(text.substr(0, equals), shape);
}

}  // namespace

std::string describe_inputs(const Graph& graph) {
  std::string text;
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.values[static_cast<size_t>(id)];
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", value.name,
                        value.dtype ? to_string(*value.dtype) : "?",
                        value.shape ? to_string(*value.shape) : "");
  }
  return text;
}

Result<const Value*> input_named(const Graph& graph, const std::string& name) {
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.values[static_cast<size_t>(id)];
    if (value.name == name) return &value;
  }
  return bad_option(
      fmt::format("the model has no input '{}'; it takes {}", name, describe_inputs(graph)));
}

Result<std::map<std::string, Tensor>> read_inputs(const InputArguments& arguments,
                                                  const Graph& graph, Notes& notes,
                                                  const std::vector<std::string>& served) {
  CLVET_ASSIGN_OR_RETURN(ImageOptions image, image_options(arguments));
  std::map<std::string, Tensor> inputs;
  for (const std::string& text : arguments.files) {
    const auto equals = text.find('=');
    if (equals == std::string::npos && graph.inputs.size() != 1) {
      return bad_option(fmt::format("--input '{}' is not NAME=FILE; the model takes {}", text,
                                    describe_inputs(graph)));
    }
    const std::string name = equals == std::string::npos
                                 ? graph.values[static_cast<size_t>(graph.inputs[0])].name
                                 : text.substr(0, equals);
    const std::string path = equals == std::string::npos ? text : text.substr(equals + 1);
    CLVET_ASSIGN_OR_RETURN(const Value* value, input_named(graph, name));
    if (inputs.contains(name))
      return bad_option(fmt::format("--input: '{}' is given twice; leave one out", name));
    CLVET_ASSIGN_OR_RETURN(inputs[name], read_input(path, *value, arguments, image, notes));
  }
  CLVET_RETURN_IF_ERROR(read_texts(arguments.text, graph, served, inputs));
  const bool whole = std::ranges::all_of(graph.inputs, [&](ValueId id) {
    const std::string& name = graph.values[static_cast<size_t>(id)].name;
    return inputs.contains(name) || std::ranges::find(served, name) != served.end();
  });
  if (!whole) {
    return bad_option(fmt::format("give every input as --input NAME=FILE; the model takes {}",
                                  describe_inputs(graph)));
  }
  CLVET_RETURN_IF_ERROR(round_to_bfloat(graph, inputs));
  return inputs;
}

Status round_to_bfloat(const Graph& graph, std::map<std::string, Tensor>& inputs) {
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.values[static_cast<size_t>(id)];
    const auto found = inputs.find(value.name);
    if (found == inputs.end() || value.dtype != DType::kBF16) continue;
    if (found->second.dtype() != DType::kF32) continue;
    CLVET_ASSIGN_OR_RETURN(found->second, found->second.cast(DType::kBF16));
  }
  return {};
}

void add_inputs(Verb verb, InputArguments& arguments) {
  verb.add_option("--input", arguments.files,
                  "the value of an input: a .npy, .png, .jpg, .wav or raw file")
      .type_name("NAME=FILE");
  add_texts(verb, arguments.text);
  verb.add_option("--image-size", arguments.image_size,
                  "resize pictures to WIDTHxHEIGHT before use")
      .type_name("WxH");
  verb.add_option("--mean", arguments.mean,
                  "input = (pixel - mean) * scale; one value, or three with commas")
      .delimiter(',');
  verb.add_option("--scale", arguments.scale, "see --mean").delimiter(',');
  verb.add_option("--layout", arguments.layout, "the order of a picture's axes in the input")
      .one_of({"nchw", "nhwc"})
      .shows_default();
  verb.add_flag("--bgr", arguments.bgr, "the input takes blue first, then green and red");
  verb.add_option("--sample-rate", arguments.sample_rate,
                  "resample sound to this rate before use (default: the rate of the file)")
      .within(100, 1000000)
      .type_name("HZ");
}

void add_shapes(Verb verb, std::vector<std::string>& shapes) {
  verb.add_option("--shape", shapes,
                  "ONNX: the shape of an input whose shape the file leaves open, or an "
                  "extent\nthat the file "
                  "names: --shape batch=4")
      .type_name("NAME=1x3x320x320");
}

Result<std::map<std::string, Shape>> read_shapes(const std::vector<std::string>& texts) {
  std::map<std::string, Shape> shapes;
  for (const std::string& text : texts) {
    CLVET_ASSIGN_OR_RETURN(auto shape, parse_shape(text));
    if (shapes.contains(shape.first))
      return fail(ErrorCode::kInvalidArgument, "--shape: '{}' is given twice; leave one out",
                  shape.first);
    shapes.insert(std::move(shape));
  }
  return shapes;
}

}  // namespace clvet
