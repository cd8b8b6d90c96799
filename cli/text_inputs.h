// Inputs of a network that are token ids, made of texts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {

struct TextArguments {
  std::vector<std::string> texts;  // NAME=TEXT
  std::string tokenizer;           // a GGUF file
};

void add_texts(Verb verb, TextArguments& arguments);

// Adds the ids of each text, as `clvet generate` reads it without a chat, to `inputs`: i64 or i32,
// of shape [1,N] or [N]. The ids of one text also bring an attention_mask of ones, unless `inputs`
// or `served` has it. kInvalidArgument: an option, a file or a text is wrong, or the input takes
// something else than so many ids.
Status read_texts(const TextArguments& arguments, const Graph& graph,
                  const std::vector<std::string>& served, std::map<std::string, Tensor>& inputs);

}  // namespace clvet
