// What `clvet check` found out about a model, without running any of it: `clvet.check/1`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/combination.h"
#include "runtime/llm/llm_config.h"

namespace clvet {

struct TokenizerCheck {
  std::string model, pre;
  int64_t tokens = 0, merges = 0, special = 0;
  bool adds_bos = false;
  std::string chat_template;  // chat_template_name()
};

struct TensorTypeCheck {
  std::string type;  // "Q4_K"
  int64_t tensors = 0, elements = 0, bytes = 0;
  bool readable = false;
  // What its tensors are for a decoder at memory low, and how many: matrices that kernels read as
  // "int4", "int8" or "float", a "vector" of floats, or a table for "lookup" in the file.
  struct Use {
    std::string as;
    int64_t tensors = 0;
  };
  std::vector<Use> uses;
  std::string advice;  // what to change; empty: nothing
};

struct LlmCheck {
  LlmConfig config;
  std::optional<TokenizerCheck> tokenizer;
  std::vector<TensorTypeCheck> types;
};

// Of a device's memory, under one combination.
struct MemoryCheck {
  int64_t weight_bytes = 0;
  int64_t start_bytes = 0;  // weights, the buffers of a step, the first cache
  std::string largest;      // of the single allocations, at the start
  int64_t largest_bytes = 0;
  // The sizes that the cache grows through.
  struct Cache {
    int64_t positions = 0, bytes = 0;
    std::optional<bool> fits;  // empty: the device's limits are not known
  };
  std::vector<Cache> caches;
};

// A language model on a device under one combination.
struct CombinationCheck {
  Combination combination;
  bool runs = false;
  std::string reason;  // where it does not
  // Tensor types that are matrices: whether kernels that are right read all of them.
  struct Type {
    std::string type;
    bool opencl = false;
    std::string reason;  // where not
  };
  std::vector<Type> types;
  std::optional<MemoryCheck> memory;  // empty: no kernel here could ever take the model
  // Weights that the combination wants in an image and that stay in a buffer.
  struct InBuffer {
    std::string matrix, reason;
  };
  std::vector<InBuffer> in_buffers;
  int64_t head_images = 0;  // that the head lies in; 0: it lies in a buffer
};

enum class Where { kOpenCl, kHost, kNeither };
const char* to_string(Where where);  // "opencl", "host", "neither"

struct NodeCheck {
  std::string name, op;
  Where where = Where::kNeither;
  std::string kernel, reason;
  bool untested = false;  // no trial has shown yet whether its kernel is right
};

struct DeviceCheck {
  std::string id, name;  // no id: no report; what the kernels could do on a device that is right
  int64_t memory = 0, largest_allocation = 0, image_width = 0, image_height = 0;  // 0: not known
  std::optional<Combination> combination;      // that a run takes by itself; empty: the host
  std::vector<CombinationCheck> combinations;  // language models
  std::vector<NodeCheck> nodes;                // networks
  std::vector<std::string> advice;             // what to change, so that more runs on the device
};

struct CheckRecord {
  std::string model, format;          // format: "gguf", "onnx"
  std::vector<std::string> findings;  // what keeps the model from running; empty: it runs
  std::vector<std::string> notes;
  std::optional<LlmCheck> llm;
  std::vector<DeviceCheck> devices;

  bool runs() const { return findings.empty(); }
};

std::string check_record_to_json(const CheckRecord& record);

}  // namespace clvet
