// Which of ONNX's own tests count, and how: derived from the test files by rule.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace clvet::conformance {

struct Case {
  std::string name, folder;         // a name begins with its group, but for that of the node tests
  std::set<std::string> operators;  // those of subgraphs included
  bool class_a = false;             // all inputs and outputs of the graph are tensors of f32, i32,
                                    // i64 or bool; ONNX's own domain; no optional values inside
  bool real_model = false;          // class A, and every operator occurs in the models that we run
  bool of_numbers = false;          // the same rule with all types of numbers, less the operators
                                    // that the suite leaves out
};

// What tests/conformance/suite.json says.
struct Suite {
  std::string package;
  size_t cases = 0, class_a = 0, real_model = 0;
  size_t all = 0, of_numbers = 0;   // in all groups
  std::vector<std::string> groups;  // folders beside that of the node tests
  std::set<int> number_types;       // of ONNX's TensorProto.DataType
  std::set<std::string> left_out_operators;
  std::set<std::string> types, real_model_operators;
  // Cases whose answer PyTorch and onnxruntime do not give, with the reason; they are of no class.
  std::map<std::string, std::string> other_answers;
};
Result<Suite> read_suite(const std::string& path);

// The cases of a folder of node tests, by name; with `all`, those of the suite's groups beside it,
// too. kInvalidArgument: a case cannot be read.
Result<std::vector<Case>> list_cases(const std::string& folder, const Suite& suite, bool all);

// kInvalidArgument where the folder is not the suite: another version has other counts.
Status check_counts(const std::vector<Case>& cases, const Suite& suite, bool all);

}  // namespace clvet::conformance
