#include "cli/model_inputs.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/whole_number.h"
#include "cli/options.h"
#include "cli/text_inputs.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/media/image_input.h"
#include "runtime/media/npy.h"

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
    int used = 0;
    const int found = std::sscanf(arguments.image_size.c_str(), "%dx%d%n", &options.width,
                                  &options.height, &used);
    if (found != 2 || static_cast<size_t>(used) != arguments.image_size.size() ||
        options.width <= 0 || options.height <= 0 || options.width > 16384 ||
        options.height > 16384) {
      return bad_option(
          fmt::format("--image-size '{}' is not WIDTHxHEIGHT, e.g. 192x48", arguments.image_size));
    }
  }
  CLVET_ASSIGN_OR_RETURN(options.mean, three(arguments.mean, 0, "--mean"));
  CLVET_ASSIGN_OR_RETURN(options.scale, three(arguments.scale, 1, "--scale"));
  options.nhwc = arguments.layout == "nhwc";
  options.bgr = arguments.bgr;
  return options;
}

bool is_image(const std::string& path) {
  for (const char* ending : {".png", ".jpg", ".jpeg", ".PNG", ".JPG", ".JPEG"}) {
    if (path.ends_with(ending)) return true;
  }
  return false;
}

Result<Tensor> read_input(const std::string& path, const Value& value, const ImageOptions& image) {
  if (path.ends_with(".npy")) return read_npy(path);
  if (is_image(path)) return read_image(path, image);
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

Result<std::map<std::string, Tensor>> read_inputs(const InputArguments& arguments,
                                                  const Graph& graph,
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
    const ValueId id = graph.find_value(name);
    if (std::find(graph.inputs.begin(), graph.inputs.end(), id) == graph.inputs.end() ||
        id == kNoValue) {
      return bad_option(
          fmt::format("the model has no input '{}'; it takes {}", name, describe_inputs(graph)));
    }
    CLVET_ASSIGN_OR_RETURN(inputs[name],
                           read_input(path, graph.values[static_cast<size_t>(id)], image));
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
                  "the value of an input: a .npy, .png, .jpg or raw file")
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
    shapes.insert(std::move(shape));
  }
  return shapes;
}

}  // namespace clvet
