// What runs where.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "clvet/abi.h"

CLVET_ABI_BEGIN

// Of a session, at the moment.
struct Placement {
  std::string device;     // its name, or "host"
  std::string precision;  // "low", "normal" or "high"
  std::vector<std::string> warnings;
  uint64_t generation = 0;  // one more after each resize()
  // Of a network's last run: the network's nodes, and how many of them the device computed.
  uint64_t nodes = 0, nodes_on_device = 0;
};

CLVET_ABI_END
