#include "tests/fakes/tracker.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/constructs.h"
#include "tests/fakes/dispatch.h"
#include "tests/fakes/scenario.h"

namespace fake_cl {
namespace {

std::string extensions_of(cl_program program) {
  cl_device_id devices[16] = {};
  char list[16384] = {};
  const auto program_info = real<Fn::clGetProgramInfo>();
  const auto device_info = real<Fn::clGetDeviceInfo>();
  size_t size = 0;
  if (program_info(program, CL_PROGRAM_DEVICES, sizeof devices, devices, &size) != CL_SUCCESS)
    return "";
  device_info(devices[0], CL_DEVICE_EXTENSIONS, sizeof list - 1, list, nullptr);
  std::string out;
  const DeviceChanges& changes = Scenario::instance().device();
  const auto& removed = changes.extensions_remove;
  for (const char* word = std::strtok(list, " "); word; word = std::strtok(nullptr, " ")) {
    if (std::find(removed.begin(), removed.end(), word) == removed.end())
      out += std::string(word) + " ";
  }
  for (const auto& word : changes.extensions_add) out += word + " ";
  return out;
}

const char* image_construct(cl_channel_type type) {
  switch (type) {
    case CL_HALF_FLOAT:
      return "image_half";
    case CL_FLOAT:
      return "image_float";
    case CL_SIGNED_INT32:
    case CL_UNSIGNED_INT32:
      return "image_int32_weights";
    case CL_UNSIGNED_INT16:
      return "image_uint16_weights";
    default:
      return nullptr;
  }
}

}  // namespace

void Tracker::forget(const void* object) {
  const std::lock_guard lock(mutex_);
  void* address = const_cast<void*>(object);
  programs_.erase(static_cast<cl_program>(address));
  kernels_.erase(static_cast<cl_kernel>(address));
  mems_.erase(static_cast<cl_mem>(address));
}

Tracker& Tracker::instance() {
  static auto& tracker = *new Tracker;
  return tracker;
}

void Tracker::add_program(cl_program program, std::string source, bool from_binary) {
  if (!program) return;
  std::lock_guard lock(mutex_);
  programs_[program] = ProgramInfo{};
  programs_[program].source = std::move(source);
  programs_[program].from_binary = from_binary;
}

void Tracker::set_options(cl_program program, const char* options) {
  const std::string extensions = extensions_of(program);
  std::lock_guard lock(mutex_);
  const auto it = programs_.find(program);
  if (it == programs_.end()) return;
  it->second.options = options ? options : "";
  it->second.extensions = extensions;
  it->second.text = &analyse(it->second.source, it->second.options, extensions);
}

void Tracker::set_log(cl_program program, std::string log, std::optional<size_t> claimed,
                      cl_build_status status) {
  std::lock_guard lock(mutex_);
  ProgramInfo& info = programs_[program];
  info.log = std::move(log);
  info.claimed_log = claimed;
  info.status = status;
}

void Tracker::clear_log(cl_program program) {
  std::lock_guard lock(mutex_);
  const auto it = programs_.find(program);
  if (it != programs_.end()) it->second.log.reset(), it->second.claimed_log.reset();
}

std::optional<ProgramInfo> Tracker::program(cl_program program) {
  std::lock_guard lock(mutex_);
  const auto it = programs_.find(program);
  return it == programs_.end() ? std::nullopt : std::optional(it->second);
}

void Tracker::add_kernel(cl_kernel kernel, cl_program program, std::string name) {
  if (!kernel) return;
  std::lock_guard lock(mutex_);
  KernelInfo info;
  info.program = program;
  info.name = std::move(name);
  const auto it = programs_.find(program);
  if (it != programs_.end() && it->second.text) {
    const auto text = it->second.text->kernels.find(info.name);
    if (text != it->second.text->kernels.end()) info.text = &text->second;
  }
  refresh_constructs(info);
  kernels_[kernel] = std::move(info);
}

void Tracker::refresh_constructs(KernelInfo& kernel) {
  kernel.constructs = kernel.text ? kernel.text->constructs : std::set<std::string>{};
  bool bound = false;
  std::set<std::string> images;
  for (const auto& [index, mem] : kernel.args) {
    const auto it = mems_.find(mem);
    if (it == mems_.end() || !it->second.image) continue;
    bound = true;
    if (const char* word = image_construct(it->second.format.image_channel_data_type)) {
      images.insert(word);
    }
  }
  if (!bound) return;
  for (const char* word :
       {"image_half", "image_float", "image_int32_weights", "image_uint16_weights"}) {
    kernel.constructs.erase(word);
  }
  kernel.constructs.insert(images.begin(), images.end());
}

void Tracker::set_arg(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
  std::lock_guard lock(mutex_);
  const auto it = kernels_.find(kernel);
  if (it == kernels_.end()) return;
  it->second.args.erase(index);
  if (!value || size != sizeof(cl_mem)) return;
  cl_mem mem = nullptr;
  std::memcpy(&mem, value, sizeof mem);
  if (!mems_.count(mem)) return;
  it->second.args[index] = mem;
  refresh_constructs(it->second);
}

void Tracker::note_enqueue(cl_kernel kernel) {
  std::lock_guard lock(mutex_);
  last_ = kernel;
}

cl_kernel Tracker::last_enqueued() {
  std::lock_guard lock(mutex_);
  return last_;
}

void Tracker::add_mem(cl_mem mem, MemInfo info) {
  if (!mem) return;
  std::lock_guard lock(mutex_);
  mems_[mem] = info;
}

std::optional<MemInfo> Tracker::mem(cl_mem mem) {
  std::lock_guard lock(mutex_);
  const auto it = mems_.find(mem);
  return it == mems_.end() ? std::nullopt : std::optional(it->second);
}

Subject Tracker::about_program(cl_program program) { return about_kernel(program, ""); }

Subject Tracker::about_kernel(cl_program program, const std::string& name) {
  std::lock_guard lock(mutex_);
  Subject subject;
  subject.kernel = name;
  const auto it = programs_.find(program);
  if (it == programs_.end()) return subject;
  subject.live_programs = programs_.size();
  subject.raw_source = it->second.source;
  subject.options = it->second.options;
  subject.from_binary = it->second.from_binary;
  subject.program = it->second.text;
  if (!subject.program) return subject;
  subject.constructs = subject.program->constructs;
  const auto kernel = subject.program->kernels.find(name);
  if (kernel != subject.program->kernels.end()) subject.constructs = kernel->second.constructs;
  if (!name.empty()) return subject;
  for (const auto& [each, text] : subject.program->kernels) subject.kernel += each + "\n";
  return subject;
}

Subject Tracker::about_kernel(cl_kernel kernel) {
  cl_program program = nullptr;
  std::string name;
  std::set<std::string> constructs;
  {
    std::lock_guard lock(mutex_);
    const auto it = kernels_.find(kernel);
    if (it == kernels_.end()) return {};
    program = it->second.program;
    name = it->second.name;
    constructs = it->second.constructs;
  }
  Subject subject = about_kernel(program, name);
  subject.constructs = std::move(constructs);
  return subject;
}

std::vector<Output> Tracker::outputs(cl_kernel kernel) {
  std::lock_guard lock(mutex_);
  std::vector<Output> out;
  const auto it = kernels_.find(kernel);
  if (it == kernels_.end()) return out;
  const KernelInfo& info = it->second;
  for (const auto& [index, mem] : info.args) {
    const bool known = info.text && index < info.text->args.size();
    const bool writable =
        known ? info.text->args[index].writable : mem == info.args.rbegin()->second;
    if (writable) out.push_back({mem, mems_[mem], known ? info.text->args[index].type : ""});
  }
  return out;
}

}  // namespace fake_cl
