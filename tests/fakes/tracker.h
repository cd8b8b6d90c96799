// What the application has told the driver: program texts, kernels with their arguments, memory.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/fakes/constructs.h"
#include "tests/fakes/dispatch.h"  // IWYU pragma: keep
#include "tests/fakes/scenario.h"

namespace fake_cl {

struct MemInfo {
  bool image = false;
  size_t size = 0;  // buffers
  cl_image_format format{};
  size_t region[3] = {0, 1, 1};  // images
  cl_mem parent = nullptr;       // sub-buffers
  size_t origin = 0;
};

struct ProgramInfo {
  std::string source, options, extensions;
  const ProgramText* text = nullptr;
  std::optional<std::string> log;          // replaces the driver's build log
  std::optional<size_t> claimed_log;       // size to claim for it
  cl_build_status status = CL_BUILD_NONE;  // with `log`
  bool from_binary = false;
};

struct KernelInfo {
  cl_program program = nullptr;
  std::string name;
  std::map<cl_uint, cl_mem> args;
  const KernelText* text = nullptr;
  std::set<std::string> constructs;  // of the text and of the images bound
};

struct Output {
  cl_mem mem;
  MemInfo info;
  std::string type = {};  // as the signature has it: "float*"; empty where nobody knows
};

class Tracker {
 public:
  static Tracker& instance();

  void add_program(cl_program program, std::string source, bool from_binary = false);
  // Analyses the text with `options`; called before the build so that rules can match it.
  void set_options(cl_program program, const char* options);
  void set_log(cl_program program, std::string log, std::optional<size_t> claimed,
               cl_build_status status);
  void clear_log(cl_program program);
  std::optional<ProgramInfo> program(cl_program program);

  void add_kernel(cl_kernel kernel, cl_program program, std::string name);
  void set_arg(cl_kernel kernel, cl_uint index, size_t size, const void* value);
  void note_enqueue(cl_kernel kernel);
  cl_kernel last_enqueued();

  void add_mem(cl_mem mem, MemInfo info);
  std::optional<MemInfo> mem(cl_mem mem);

  // Somebody else may get the address.
  void forget(const void* object);

  Subject about_program(cl_program program);
  // `name` picks one kernel's constructs while the kernel object does not exist yet.
  Subject about_kernel(cl_program program, const std::string& name);
  Subject about_kernel(cl_kernel kernel);
  // Memory that the kernel can write, by its signature; the last argument where that is unknown.
  std::vector<Output> outputs(cl_kernel kernel);

 private:
  void refresh_constructs(KernelInfo& kernel);
  std::mutex mutex_;
  std::map<cl_program, ProgramInfo> programs_;
  std::map<cl_kernel, KernelInfo> kernels_;
  std::map<cl_mem, MemInfo> mems_;
  cl_kernel last_ = nullptr;
};

}  // namespace fake_cl
