// Which node of a model reads what from whom: all that the search for origins and cures knows of
// the model.
#pragma once

#include <string>
#include <vector>

namespace clvet {

struct Wire {
  std::string value;  // empty: nothing is read
  int from = -1;      // the node that makes it; -1: none
  int given = -1;     // which of the values it is that the caller gives; -1: none
  bool constant = false;
};

// By node, each behind those that it reads from; by input of the node.
using Wiring = std::vector<std::vector<Wire>>;

}  // namespace clvet
