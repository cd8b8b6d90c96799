// What to set in other engines so that they keep certain nodes in float32: probe/data/advice/
// engines.json.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/precision/number_format.h"

namespace clvet {

// A node as the file has it; values by name, constants are not among them.
struct FileNode {
  std::string name, op;
  std::vector<std::string> reads, writes;
};

struct EngineAdvice {
  std::string engine, title;          // "paddle-lite", "Paddle-Lite"
  bool single_nodes = false;          // it can keep these nodes alone; else the whole model
  std::string text, chinese;          // the same sentences in both languages
  std::vector<std::string> settings;  // lines of a program or a file, with the nodes' names
  std::vector<std::string> sources;   // where the engine says so
};

// A row for each engine that stores values in that format. kInternal: the data file is at fault.
Result<std::vector<EngineAdvice>> engine_advice(NumberFormat format,
                                                std::span<const FileNode> nodes);

}  // namespace clvet
