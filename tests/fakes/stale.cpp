#include "tests/fakes/stale.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "tests/fakes/dispatch.h"
#include "tests/fakes/observe.h"
#include "tests/fakes/scenario.h"

namespace fake_cl {
namespace {

using Bytes = std::vector<unsigned char>;

std::mutex g_mutex;
std::map<cl_mem, Bytes> g_seen;  // what the last one should have given
std::map<void*, std::pair<void*, std::unique_ptr<Bytes>>> g_copies;  // by their own place

bool is_stale(const std::vector<const Rule*>& rules) {
  return std::any_of(rules.begin(), rules.end(),
                     [](const Rule* rule) { return rule->action == "stale"; });
}

// What was seen of `mem` before, or `fresh` where that is the first; keeps `fresh`.
Bytes before(cl_mem mem, Bytes fresh) {
  Bytes& seen = g_seen[mem];
  Bytes old = seen.size() == fresh.size() ? seen : fresh;
  seen = std::move(fresh);
  return old;
}

}  // namespace

cl_int restage(Tag<Fn::clEnqueueReadBuffer>, const std::vector<const Rule*>& rules, cl_int result,
               cl_command_queue queue, cl_mem mem, cl_bool, size_t, size_t size, void* data,
               cl_uint, const cl_event*, cl_event*) {
  if (result != CL_SUCCESS || !is_stale(rules)) return result;
  real<Fn::clFinish>()(queue);
  const std::lock_guard lock(g_mutex);
  const auto* bytes = static_cast<unsigned char*>(data);
  const Bytes old = before(mem, Bytes(bytes, bytes + size));
  std::memcpy(data, old.data(), size);
  return result;
}

void* restage(Tag<Fn::clEnqueueMapBuffer>, const std::vector<const Rule*>& rules, void* result,
              cl_command_queue queue, cl_mem mem, cl_bool, cl_map_flags, size_t, size_t size,
              cl_uint, const cl_event*, cl_event*, cl_int*) {
  if (!result || !is_stale(rules)) return result;
  real<Fn::clFinish>()(queue);
  const std::lock_guard lock(g_mutex);
  const auto* bytes = static_cast<unsigned char*>(result);
  auto copy = std::make_unique<Bytes>(before(mem, Bytes(bytes, bytes + size)));
  void* place = copy->data();
  g_copies[place] = {result, std::move(copy)};
  return place;
}

cl_int invoke(Tag<Fn::clEnqueueUnmapMemObject>, cl_command_queue queue, cl_mem mem, void* mapped,
              cl_uint count, const cl_event* waits, cl_event* event) {
  {
    const std::lock_guard lock(g_mutex);
    if (const auto found = g_copies.find(mapped); found != g_copies.end()) {
      mapped = found->second.first;
      g_copies.erase(found);
    }
  }
  return real<Fn::clEnqueueUnmapMemObject>()(queue, mem, mapped, count, waits, event);
}

}  // namespace fake_cl
