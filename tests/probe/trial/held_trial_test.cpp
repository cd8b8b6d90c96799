#include "probe/trial/held_trial.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "probe/trial/placed_memory.h"
#include "probe/trial/request.h"
#include "probe/worker/driver_session.h"

namespace clvet {
namespace {

const MemoryRequest kIn{.use = MemoryUse::kIn, .bytes = 64};
const MemoryRequest kOut{.use = MemoryUse::kOut, .bytes = 64};

std::vector<PlacedMemory> memory_of(const std::vector<MemoryRequest>& requests) {
  std::vector<PlacedMemory> memory(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) memory[i].request = requests[i];
  return memory;
}

// A trial in that slot with memory objects of its own.
void hold(DriverSession& session, int slot, const std::vector<MemoryRequest>& requests) {
  auto memory = memory_of(requests);
  for (PlacedMemory& one : memory) one.object = std::make_shared<const MemoryObject>();
  TrialRequest request;
  request.slot = slot;
  hold_trial(session, request, std::move(memory));
}

TEST(HeldTrial, LendsItsOutputsToKernelsThatTakeTurnsWithItAndNotItsInputs) {
  DriverSession session;
  hold(session, 0, {kIn, kOut});
  auto memory = memory_of({kOut, kIn});
  share_outputs(session, memory);
  EXPECT_EQ(memory[0].object, session.held.at(0)->memory[1].object);
  EXPECT_EQ(memory[1].object, nullptr);
}

TEST(HeldTrial, LendsNoOutputThatIsLaidOutOtherwise) {
  MemoryRequest larger = kOut, guarded = kOut, image = kOut, half = kOut;
  larger.bytes = 65;
  guarded.guard = 16;
  image.image = true;
  half.texel = TexelType::kHalf;
  DriverSession session;
  hold(session, 0, {kOut});
  auto memory = memory_of({larger, guarded, image, half});
  share_outputs(session, memory);
  for (const PlacedMemory& one : memory) EXPECT_EQ(one.object, nullptr);
}

TEST(HeldTrial, LendsEachOutputOnceToATrial) {
  DriverSession session;
  hold(session, 0, {kOut});
  hold(session, 1, {kOut, kOut});
  auto memory = memory_of({kOut, kOut, kOut, kOut});
  share_outputs(session, memory);
  EXPECT_EQ(memory[0].object, session.held.at(0)->memory[0].object);
  EXPECT_EQ(memory[1].object, session.held.at(1)->memory[0].object);
  EXPECT_EQ(memory[2].object, session.held.at(1)->memory[1].object);
  EXPECT_EQ(memory[3].object, nullptr);
}

}  // namespace
}  // namespace clvet
