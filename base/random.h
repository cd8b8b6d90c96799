// Random bits as a function of a seed and a counter, the same on every machine.
#pragma once

#include <array>
#include <cstdint>

namespace clvet {

// Philox 4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1,
// 2, 3", 2011).
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// 64 bits of it.
uint64_t random_bits(uint64_t seed, uint64_t counter);

}  // namespace clvet
