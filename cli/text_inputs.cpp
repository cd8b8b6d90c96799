#include "cli/text_inputs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "cli/model_inputs.h"
#include "cli/options.h"
#include "runtime/gguf/file.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/llm/tokenizer.h"
#include "runtime/llm/vocabulary.h"

namespace clvet {
namespace {

constexpr const char* kMask = "attention_mask";

const Value* input_of(const Graph& graph, const std::string& name) {
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.values[static_cast<size_t>(id)];
    if (value.name == name) return &value;
  }
  return nullptr;
}

bool takes(const Shape& wanted, const Shape& given) {
  return wanted.size() == given.size() &&
         std::equal(wanted.begin(), wanted.end(), given.begin(),
                    [](int64_t want, int64_t have) { return want < 0 || want == have; });
}

// [1,N], or [N] where the input has one axis.
Result<Shape> shape_of_ids(const Value& value, int64_t count) {
  const bool row = value.shape && value.shape->size() == 1;
  Shape shape = row ? Shape{count} : Shape{1, count};
  if (!value.shape || takes(*value.shape, shape)) return shape;
  return fail(ErrorCode::kInvalidArgument,
              "--text: the text for '{}' has {} tokens, but the model takes {}; give a text of so "
              "many tokens, or the ids as the model wants them in a .npy file: --input NAME=FILE",
              value.name, count, to_string(*value.shape));
}

Result<Tensor> ids_for(const Value& value, const std::vector<TokenId>& ids) {
  const DType dtype = value.dtype.value_or(DType::kI64);
  if (dtype != DType::kI64 && dtype != DType::kI32)
    return fail(ErrorCode::kInvalidArgument,
                "--text: the input '{}' is of {}, but token ids are i64 or i32; give it with "
                "--input NAME=FILE",
                value.name, to_string(dtype));
  CLVET_ASSIGN_OR_RETURN(Shape shape, shape_of_ids(value, static_cast<int64_t>(ids.size())));
  return Tensor::from(std::move(shape), std::span<const int32_t>(ids)).cast(dtype);
}

Result<std::vector<TokenId>> tokens_of(const Tokenizer& tokenizer, const std::string& name,
                                       const std::string& text) {
  if (text.empty())
    return fail(ErrorCode::kInvalidArgument, "--text: the text for '{}' is empty; give it a text",
                one_line(name));
  auto ids = tokenizer.encode(text);
  if (!ids) return wrap(ids.error(), "--text");
  if (ids->empty())
    return fail(ErrorCode::kInvalidArgument,
                "--text: the tokenizer makes no token of the text for '{}'; give another text",
                one_line(name));
  return ids;
}

Result<std::string> read_text(const std::string& option, const Tokenizer& tokenizer,
                              const Graph& graph, std::map<std::string, Tensor>& inputs) {
  const size_t equals = option.find('=');
  if (equals == std::string::npos || equals == 0)
    return fail(ErrorCode::kInvalidArgument,
                "--text '{}' is not NAME=TEXT, e.g. input_ids=\"The capital of France\"; the model "
                "takes {}",
                one_line(option, 60), describe_inputs(graph));
  const std::string name = option.substr(0, equals);
  const Value* value = input_of(graph, name);
  if (!value)
    return fail(ErrorCode::kInvalidArgument, "the model has no input '{}'; it takes {}",
                one_line(name), describe_inputs(graph));
  if (inputs.contains(name))
    return fail(ErrorCode::kInvalidArgument, "--text: '{}' has a value already; leave one out",
                name);
  CLVET_ASSIGN_OR_RETURN(const auto ids, tokens_of(tokenizer, name, option.substr(equals + 1)));
  CLVET_ASSIGN_OR_RETURN(inputs[name], ids_for(*value, ids));
  return name;
}

// Whether both have as many tokens in each run: a mask that also covers a past has another name
// there.
bool same_extents(const Value& one, const Value& other) {
  return one.extent_names.empty() || other.extent_names.empty() ||
         one.extent_names == other.extent_names;
}

Status add_mask(const Graph& graph, const std::string& ids, std::map<std::string, Tensor>& inputs) {
  const Value *mask = input_of(graph, kMask), *value = input_of(graph, ids);
  const Tensor& tokens = inputs.at(ids);
  if (!mask || !same_extents(*mask, *value)) return {};
  if (mask->shape && !takes(*mask->shape, tokens.shape())) return {};
  std::vector<int32_t> ones(static_cast<size_t>(tokens.elements()), 1);
  const Tensor whole = Tensor::from(tokens.shape(), std::span<const int32_t>(ones));
  CLVET_ASSIGN_OR_RETURN(inputs[kMask], whole.cast(mask->dtype.value_or(DType::kI64)));
  return {};
}

}  // namespace

void add_texts(Verb verb, TextArguments& arguments) {
  verb.add_option("--text", arguments.texts,
                  "the value of an input of token ids: those of this text, by --tokenizer")
      .one_each()
      .type_name("NAME=TEXT");
  verb.add_option("--tokenizer", arguments.tokenizer,
                  "the GGUF file whose tokenizer makes token ids of --text")
      .type_name("FILE.gguf");
}

Status read_texts(const TextArguments& arguments, const Graph& graph,
                  const std::vector<std::string>& served, std::map<std::string, Tensor>& inputs) {
  if (arguments.texts.empty() && arguments.tokenizer.empty()) return {};
  if (arguments.texts.empty())
    return fail(ErrorCode::kInvalidArgument,
                "--tokenizer is for texts: give one with --text NAME=TEXT, or leave it out");
  if (arguments.tokenizer.empty())
    return fail(ErrorCode::kInvalidArgument,
                "--text needs a tokenizer: give a GGUF file that has the model's with --tokenizer "
                "FILE.gguf, or give the token ids with --input NAME=FILE.npy");
  auto file = GgufFile::open(arguments.tokenizer);
  if (!file) return wrap(file.error(), "--tokenizer");
  auto tokenizer = Tokenizer::create(file->metadata());
  if (!tokenizer) return wrap(tokenizer.error(), "--tokenizer " + one_line(arguments.tokenizer));
  std::string name;
  for (const std::string& option : arguments.texts) {
    CLVET_ASSIGN_OR_RETURN(name, read_text(option, *tokenizer, graph, inputs));
  }
  const bool is_given = inputs.contains(kMask) || std::ranges::find(served, kMask) != served.end();
  if (arguments.texts.size() == 1 && !is_given) return add_mask(graph, name, inputs);
  return {};
}

}  // namespace clvet
