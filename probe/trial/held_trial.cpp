#include "probe/trial/held_trial.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "base/json.h"  // IWYU pragma: keep
#include "base/result.h"
#include "probe/process/spread_threads.h"
#include "probe/process/stage_page.h"
#include "probe/report/report.h"
#include "probe/trial/placed_memory.h"
#include "probe/trial/request.h"
#include "probe/worker/drive.h"
#include "probe/worker/driver_session.h"
#include "probe/worker/protocol.h"

namespace clvet {
namespace {

DrivenStatus run_round(DriverSession& session, HeldTrial& held, int launches,
                       nlohmann::json& reply) {
  CLVET_DRIVE(clear_outputs(session, held.memory));
  const SpreadThreads spread(session.processor);
  const auto ms = time_batch(session, held.request, held.memory, launches);
  if (!ms) return tl::unexpected(ms.error());
  reply["ms"] = *ms;
  return read_outputs(session, held.memory, held.request.repeats, reply);
}

bool laid_out_alike(const MemoryRequest& a, const MemoryRequest& b) {
  const auto layout = [](const MemoryRequest& one) {
    return std::tie(one.use, one.image, one.bytes, one.width, one.height, one.texel, one.guard,
                    one.guard_texels);
  };
  return layout(a) == layout(b);
}

bool holds(const std::vector<PlacedMemory>& memory, const MemoryObject* object) {
  return std::any_of(memory.begin(), memory.end(),
                     [&](const PlacedMemory& one) { return one.object.get() == object; });
}

}  // namespace

void share_outputs(const DriverSession& session, std::vector<PlacedMemory>& memory) {
  for (PlacedMemory& wanted : memory) {
    if (wanted.request.use != MemoryUse::kOut) continue;
    for (const auto& [slot, held] : session.held) {
      const auto like =
          std::find_if(held->memory.begin(), held->memory.end(), [&](const auto& one) {
            return laid_out_alike(one.request, wanted.request) && !holds(memory, one.object.get());
          });
      if (like == held->memory.end()) continue;
      wanted.object = like->object;
      break;
    }
  }
}

void hold_trial(DriverSession& session, const TrialRequest& request,
                std::vector<PlacedMemory> memory) {
  auto held = std::make_shared<HeldTrial>();
  held->request = request;
  held->memory = std::move(memory);
  std::swap(session.built, held->built);
  session.held[request.slot] = std::move(held);
}

Status handle_round(DriverSession& session, Message& message, nlohmann::json& reply) {
  const auto found = session.held.find(message.body.value("slot", -1));
  if (found == session.held.end())
    return fail(ErrorCode::kInternal, "a round of a trial that is not kept was asked for");
  HeldTrial& held = *found->second;
  std::swap(session.built, held.built);
  const int launches = std::max(message.body.value("launches", 1), 1);
  const DrivenStatus status = run_round(session, held, launches, reply);
  std::swap(session.built, held.built);
  if (!status) tell_fault(status.error(), reply);
  return {};
}

Status handle_drop(DriverSession& session, Message&, nlohmann::json&) {
  for (auto& [slot, held] : session.held) {
    {
      const StageMarker marker(Stage::kRelease, "clReleaseMemObject");
      held->memory.clear();
    }
    put_aside(session, held->built);
  }
  session.held.clear();
  return {};
}

}  // namespace clvet
