// Small ONNX models for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet::onnx {
class GraphProto;
class ModelProto;
class NodeProto;
class TensorProto;
}  // namespace clvet::onnx

namespace clvet::test {

// Builds a ModelProto line by line. What a test sets in the messages themselves needs
// runtime/onnx/onnx.pb.h as well.
class ModelBuilder {
 public:
  explicit ModelBuilder(int opset = 13);
  ~ModelBuilder();
  ModelBuilder(const ModelBuilder& other);
  ModelBuilder& operator=(const ModelBuilder&) = delete;

  // A dim below 0 stays open.
  ModelBuilder& input(const std::string& name, const Shape& shape, int onnx_type = 1);
  // Of floats, no word of its shape.
  ModelBuilder& input_of_any_shape(const std::string& name);
  ModelBuilder& output(const std::string& name);
  ModelBuilder& constant(const std::string& name, const Shape& shape,
                         const std::vector<float>& values);
  ModelBuilder& constant_i64(const std::string& name, const std::vector<int64_t>& values);
  // Named after the op and the first output.
  onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs);

  // Changes the op of a node, by its place.
  void set_op(int node, const std::string& op);
  void set_opset(int version);

  ModelBuilder& metadata(const std::string& key, const std::string& value);

  static void fill(onnx::TensorProto& tensor, const std::string& name, const Shape& shape,
                   const std::vector<float>& values);

  onnx::GraphProto& graph();
  onnx::ModelProto& model() { return *model_; }
  std::string bytes() const;
  Result<Graph> parse() const;
  // For models that must be right.
  Graph build() const;

 private:
  std::unique_ptr<onnx::ModelProto> model_;
};

// A branch: out = op(inputs).
onnx::GraphProto branch(const std::string& op, const std::vector<std::string>& inputs,
                        const std::string& out);
// y = the branch that c names.
onnx::NodeProto& add_if(ModelBuilder& model, const onnx::GraphProto& then_branch,
                        const onnx::GraphProto& else_branch);

// Adds an attribute to the node.
void set_graph(onnx::NodeProto& node, const std::string& name, const onnx::GraphProto& graph);
void set_int(onnx::NodeProto& node, const std::string& name, int64_t value);
void set_float(onnx::NodeProto& node, const std::string& name, float value);
void set_ints(onnx::NodeProto& node, const std::string& name, const std::vector<int64_t>& values);

}  // namespace clvet::test
