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

std::map<unsigned char*, size_t> g_mapped;  // what maps gave, until they ended

bool has(const std::vector<const Rule*>& rules, const char* action) {
  return std::any_of(rules.begin(), rules.end(),
                     [&](const Rule* rule) { return rule->action == action; });
}

bool is_mapped(const unsigned char* place) {
  return std::any_of(g_mapped.begin(), g_mapped.end(), [&](const auto& row) {
    return row.first <= place && place < row.first + row.second;
  });
}

// What was seen of `mem` before, or `fresh` where that is the first; keeps `fresh`.
Bytes before(cl_mem mem, Bytes fresh) {
  Bytes& seen = g_seen[mem];
  Bytes old = seen.size() == fresh.size() ? seen : fresh;
  seen = std::move(fresh);
  return old;
}

}  // namespace

cl_int restage(Tag<Fn::clEnqueueWriteBuffer>, const std::vector<const Rule*>& rules, cl_int result,
               cl_command_queue queue, cl_mem mem, cl_bool, size_t offset, size_t size,
               const void* data, cl_uint, const cl_event*, cl_event*) {
  if (result != CL_SUCCESS || !has(rules, "lost")) return result;
  const std::lock_guard lock(g_mutex);
  if (!is_mapped(static_cast<const unsigned char*>(data))) return result;
  const Bytes zeros(size);
  return real<Fn::clEnqueueWriteBuffer>()(queue, mem, CL_TRUE, offset, size, zeros.data(), 0,
                                          nullptr, nullptr);
}

cl_int restage(Tag<Fn::clEnqueueReadBuffer>, const std::vector<const Rule*>& rules, cl_int result,
               cl_command_queue queue, cl_mem mem, cl_bool, size_t, size_t size, void* data,
               cl_uint, const cl_event*, cl_event*) {
  const bool stale = has(rules, "stale");
  if (result != CL_SUCCESS || !(stale || has(rules, "lost"))) return result;
  real<Fn::clFinish>()(queue);
  const std::lock_guard lock(g_mutex);
  auto* bytes = static_cast<unsigned char*>(data);
  if (has(rules, "lost") && is_mapped(bytes)) std::fill_n(bytes, size, 0);
  if (!stale) return result;
  const Bytes old = before(mem, Bytes(bytes, bytes + size));
  std::memcpy(data, old.data(), size);
  return result;
}

void* restage(Tag<Fn::clEnqueueMapBuffer>, const std::vector<const Rule*>& rules, void* result,
              cl_command_queue queue, cl_mem mem, cl_bool, cl_map_flags, size_t, size_t size,
              cl_uint, const cl_event*, cl_event*, cl_int*) {
  if (!result) return result;
  const bool stale = has(rules, "stale");
  if (stale) real<Fn::clFinish>()(queue);
  const std::lock_guard lock(g_mutex);
  auto* bytes = static_cast<unsigned char*>(result);
  g_mapped[bytes] = size;
  if (!stale) return result;
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
    g_mapped.erase(static_cast<unsigned char*>(mapped));
  }
  return real<Fn::clEnqueueUnmapMemObject>()(queue, mem, mapped, count, waits, event);
}

}  // namespace fake_cl
