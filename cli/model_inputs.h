// The inputs of a network, as options of a verb.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/input_files.h"
#include "cli/options.h"
#include "cli/text_inputs.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {

struct InputArguments {
  std::vector<std::string> files;  // NAME=FILE, or FILE where there is one input
  std::string image_size, layout = "nchw";
  std::vector<double> mean, scale;
  bool bgr = false;
  int sample_rate = 0;  // 0: that of each sound file
  TextArguments text;

  bool any() const { return !files.empty() || !text.texts.empty() || !text.tokenizer.empty(); }
};

void add_inputs(Verb verb, InputArguments& arguments);

// By name; pictures and sound are made ready as the options say. kInvalidArgument: an option, a
// name or a file is wrong, or an input is missing that is not among `served`, which get their
// values elsewhere.
Result<std::map<std::string, Tensor>> read_inputs(const InputArguments& arguments,
                                                  const Graph& graph, Notes& notes,
                                                  const std::vector<std::string>& served = {});

// float32 becomes bfloat16 where the input is of bfloat16: no file that clvet reads but a raw one
// has that type.
Status round_to_bfloat(const Graph& graph, std::map<std::string, Tensor>& inputs);

void add_shapes(Verb verb, std::vector<std::string>& shapes);
// Of NAME=1x3x320x320 each; NAME may be an extent, too: take_extents().
Result<std::map<std::string, Shape>> read_shapes(const std::vector<std::string>& texts);

// kInvalidArgument: there is none of this name.
Result<const Value*> input_named(const Graph& graph, const std::string& name);

// "x f32[1,3,-1,-1], y i64[1]"
std::string describe_inputs(const Graph& graph);

}  // namespace clvet
