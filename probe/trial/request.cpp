#include "probe/trial/request.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/json.h"
#include "kernels/catalog.h"
#include "probe/report/report.h"
#include "probe/worker/device_route.h"

namespace clvet {
namespace {

nlohmann::json to_row(const MemoryRequest& memory) {
  return {{"out", memory.use == MemoryUse::kOut},
          {"image", memory.image},
          {"bytes", memory.bytes},
          {"width", memory.width},
          {"height", memory.height},
          {"texel", static_cast<int>(memory.texel)},
          {"guard", memory.guard},
          {"guard_texels", memory.guard_texels},
          {"fd", memory.fd},
          {"copies", memory.copies}};
}

MemoryRequest memory_of(const nlohmann::json& row) {
  MemoryRequest memory;
  memory.use = row.at("out").get<bool>() ? MemoryUse::kOut : MemoryUse::kIn;
  memory.image = row.at("image");
  memory.bytes = row.at("bytes");
  memory.width = row.at("width");
  memory.height = row.at("height");
  memory.texel = static_cast<TexelType>(row.at("texel").get<int>());
  memory.guard = row.at("guard");
  memory.guard_texels = row.at("guard_texels");
  memory.fd = row.at("fd");
  memory.copies = row.at("copies");
  return memory;
}

}  // namespace

uint64_t texel_bytes(TexelType type) {
  return type == TexelType::kFloat || type == TexelType::kInt32 ? 16 : 8;
}

uint64_t MemoryRequest::read_bytes() const {
  if (!image) return bytes + 2 * guard;
  return static_cast<uint64_t>((width + guard_texels) * (height + guard_texels)) *
         texel_bytes(texel);
}

void limit_copies(TrialRequest& request, uint64_t most_bytes) {
  for (MemoryRequest& memory : request.memory) {
    const uint64_t fit = most_bytes / std::max<uint64_t>(memory.read_bytes(), 1);
    memory.copies = static_cast<int>(std::clamp<uint64_t>(fit, 1, std::max(memory.copies, 1)));
  }
}

nlohmann::json to_message(const TrialRequest& request) {
  nlohmann::json sources = nlohmann::json::array(), memory = nlohmann::json::array(),
                 args = nlohmann::json::array();
  for (const Source& source : request.program.sources) sources.push_back(*source);
  for (const MemoryRequest& row : request.memory) memory.push_back(to_row(row));
  for (const ArgRequest& row : request.args) {
    args.push_back({row.memory, row.is_float, row.int_value, row.float_value});
  }
  return {{"do", "trial"},
          {"careful", request.careful},
          {"build_only", request.build_only},
          {"release_program", request.release_program},
          {"sources", std::move(sources)},
          {"options", request.program.options},
          {"entry", request.program.entry},
          {"key", request.program.key},
          {"memory", std::move(memory)},
          {"args", std::move(args)},
          {"work_dim", request.work_dim},
          {"global", request.global},
          {"local", request.local},
          {"repeats", request.repeats},
          {"timing", request.timing_seconds},
          {"beside_idle", request.beside_idle},
          {"slot", request.slot}};
}

TrialRequest trial_from_message(const nlohmann::json& message) {
  TrialRequest request;
  request.careful = message.at("careful");
  request.build_only = message.at("build_only");
  request.release_program = message.at("release_program");
  for (const auto& source : message.at("sources"))
    request.program.sources.push_back(std::make_shared<const std::string>(source));
  request.program.options = message.at("options");
  request.program.entry = message.at("entry");
  request.program.key = message.at("key");
  for (const auto& row : message.at("memory")) request.memory.push_back(memory_of(row));
  for (const auto& row : message.at("args")) {
    request.args.push_back({row.at(0), row.at(1), row.at(2), row.at(3)});
  }
  request.work_dim = message.at("work_dim");
  message.at("global").get_to(request.global);
  message.at("local").get_to(request.local);
  request.repeats = message.at("repeats");
  request.timing_seconds = message.at("timing");
  request.beside_idle = message.at("beside_idle");
  request.slot = message.at("slot");
  return request;
}

nlohmann::json to_message(const RoundRequest& request) {
  return {{"do", "round"}, {"slot", request.slot}, {"launches", request.launches}};
}

nlohmann::json open_message(const DeviceRoute& route, const DeviceReport& device) {
  return {{"do", "open"},
          {"library", route.library},
          {"platform", route.platform},
          {"device", route.device},
          {"processor", is_processor(device)}};
}

nlohmann::json release_message(const Program& program) {
  return {{"do", "release"}, {"key", program.key}};
}

nlohmann::json drop_message() { return {{"do", "drop"}}; }

}  // namespace clvet
