// clvet_kernel_bench [--library NAME] [--device P:D] [--scale NAME=VALUE] [--batch N] [--sets N]
//     VARIANT... DIM=VALUE...
//
// Times variants of one op on one call, side by side: the launches of all variants take turns, so
// that a load on the machine falls on each of them alike. A VARIANT is the beginning of a variant's
// name ("conv2d_tile4x4/high/normal/buffer/buffer"); the first one that fits is meant. Prints for
// each the least and the median time of a launch (of N launches and one wait, 4), GFLOP/s and
// GB/s by the least, and its time relative to the first. Scalars that are not given are 0. --sets:
// the launches take turns with so many sets of memory (1), so that no cache holds what they read.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/text.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "probe/cl/api.h"
#include "probe/cl/handles.h"
#include "probe/cl/library.h"
#include "probe/cl/query.h"

namespace clvet {
namespace {

constexpr double kSeconds = 0.8;  // for each variant
constexpr size_t kLeastRounds = 5;

struct Options {
  std::string library = "libOpenCL.so.1";
  size_t platform = 0, device = 0;
  int batch = 4, sets = 1;
  std::vector<std::string> variants;
  Dims dims;
  Scalars scalars;
};

struct Target {
  ClApi api;
  cl_device_id device = nullptr;
  ClContext context;
  ClQueue queue;
};

// A variant ready to be launched, and what one launch is worth.
struct Subject {
  std::string name;
  ClProgram program;
  std::vector<ClKernel> kernels;  // one a set of memory
  std::vector<ClMem> memory;
  KernelCall call;
  double flops = 0, bytes = 0;
  std::vector<double> samples;  // milliseconds a launch
};

Status cl_check(cl_int code, const char* call) {
  if (code == CL_SUCCESS) return {};
  return fail(ErrorCode::kDeviceError, "{}: {}", call, cl_error_name(code));
}

Result<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    if (word.starts_with("--") && i + 1 < argc) {
      const std::string value = argv[++i];
      const auto parts = split(value, word == "--device" ? ':' : '=');
      if (word == "--library") {
        options.library = value;
      } else if (word == "--device" && parts.size() == 2) {
        options.platform = std::strtoul(parts[0].c_str(), nullptr, 10);
        options.device = std::strtoul(parts[1].c_str(), nullptr, 10);
      } else if (word == "--batch") {
        options.batch = std::max(1, std::atoi(value.c_str()));
      } else if (word == "--sets") {
        options.sets = std::max(1, std::atoi(value.c_str()));
      } else if (word == "--scale" && parts.size() == 2) {
        options.scalars[parts[0]] = std::strtod(parts[1].c_str(), nullptr);
      } else {
        return fail(ErrorCode::kInvalidArgument, "unknown option {} {}", word, value);
      }
    } else if (equals != std::string::npos) {
      options.dims[word.substr(0, equals)] = std::strtoll(&word[equals + 1], nullptr, 10);
    } else {
      options.variants.push_back(word);
    }
  }
  if (options.variants.empty()) return fail(ErrorCode::kInvalidArgument, "no variant is named");
  return options;
}

Result<Target> open(const Options& options) {
  auto library = load_library(options.library);
  if (!library) return fail(ErrorCode::kUnavailable, "{}", library.error().reason);
  Target target;
  target.api = library->api;
  std::vector<cl_platform_id> platforms;
  std::vector<cl_device_id> devices;
  CLVET_RETURN_IF_ERROR(cl_check(list_platforms(target.api, platforms), "clGetPlatformIDs"));
  if (options.platform >= platforms.size()) return fail(ErrorCode::kNotFound, "no such platform");
  CLVET_RETURN_IF_ERROR(
      cl_check(list_devices(target.api, platforms[options.platform], devices), "clGetDeviceIDs"));
  if (options.device >= devices.size()) return fail(ErrorCode::kNotFound, "no such device");
  target.device = devices[options.device];
  return target;
}

Status connect(Target& target) {
  cl_int code = CL_SUCCESS;
  target.context = ClContext(
      target.api, target.api.clCreateContext(nullptr, 1, &target.device, nullptr, nullptr, &code));
  CLVET_RETURN_IF_ERROR(cl_check(code, "clCreateContext"));
  target.queue = ClQueue(
      target.api, target.api.clCreateCommandQueue(target.context.get(), target.device, 0, &code));
  return cl_check(code, "clCreateCommandQueue");
}

Result<Variant> find_variant(const Catalog& catalog, const std::string& name) {
  for (const Manifest& manifest : catalog.manifests()) {
    for (const Variant& variant : variants_of(manifest)) {
      if (variant.name().starts_with(name)) return variant;
    }
  }
  return fail(ErrorCode::kNotFound, "no variant begins with '{}'", name);
}

Values random_values(int64_t count) {
  static std::mt19937 engine(1);
  Values values(static_cast<size_t>(count));
  for (double& value : values) value = static_cast<double>(engine()) * 0x1p-31 - 1;
  return values;
}

// The bytes that a memory argument begins with, and its texels where it is an image.
struct Content {
  Bytes bytes;
  ImageExtent extent;
};

Content content_of(const Variant& variant, const CallArg& arg, const TensorRole& role) {
  if (arg.kind == ArgKind::kIndices) {
    std::vector<int64_t> indices(static_cast<size_t>(role.c));
    for (size_t i = 0; i < indices.size(); ++i) {
      indices[i] = static_cast<int64_t>(i) * 7919 % role.extent;
    }
    return {encode_indices(indices), {}};
  }
  if (arg.kind == ArgKind::kState) {
    return {encode_indices(std::vector<int64_t>(static_cast<size_t>(role.c))), {}};
  }
  const Values values = random_values(role.elements());
  if (arg.kind == ArgKind::kVector) return {encode_vector(role, values), {}};
  if (arg.kind == ArgKind::kInput || arg.kind == ArgKind::kOutput) {
    return {encode_activation(role, variant.precision, values), activation_extent(role)};
  }
  PackedWeights packed =
      pack_weights(role, variant.precision, variant.weight_type.value_or(WeightType::kFloat),
                   variant.weights.value_or(Storage::kBuffer), variant.manifest->pack, values);
  return {arg.kind == ArgKind::kScales ? packed.scales : packed.data, packed.image};
}

Result<ClMem> memory_of(const Target& target, const Variant& variant, const CallArg& arg,
                        Content& content) {
  const ClApi& api = target.api;
  constexpr cl_mem_flags kFlags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
  cl_int code = CL_SUCCESS;
  ClMem memory;
  if (arg.storage == Storage::kBuffer) {
    memory = ClMem(api, api.clCreateBuffer(target.context.get(), kFlags, content.bytes.size(),
                                           content.bytes.data(), &code));
  } else {
    const bool words = arg.kind == ArgKind::kWeights &&
                       variant.weight_type.value_or(WeightType::kFloat) != WeightType::kFloat;
    cl_image_format format{CL_RGBA, CL_FLOAT};
    if (stores_half(variant.precision)) format.image_channel_data_type = CL_HALF_FLOAT;
    if (words) format.image_channel_data_type = CL_UNSIGNED_INT16;
    cl_image_desc shape{};
    shape.image_type = CL_MEM_OBJECT_IMAGE2D;
    shape.image_width = static_cast<size_t>(content.extent.width);
    shape.image_height = static_cast<size_t>(content.extent.height);
    memory = ClMem(api, api.clCreateImage(target.context.get(), kFlags, &format, &shape,
                                          content.bytes.data(), &code));
  }
  CLVET_RETURN_IF_ERROR(cl_check(code, "creating a memory object"));
  return memory;
}

Status build(const Target& target, const Program& program, int sets, Subject& subject) {
  const ClApi& api = target.api;
  std::vector<const char*> texts;
  for (const Source& source : program.sources) texts.push_back(source->c_str());
  cl_int code = CL_SUCCESS;
  subject.program = ClProgram(
      api, api.clCreateProgramWithSource(target.context.get(), static_cast<cl_uint>(texts.size()),
                                         texts.data(), nullptr, &code));
  CLVET_RETURN_IF_ERROR(cl_check(code, "clCreateProgramWithSource"));
  code = api.clBuildProgram(subject.program.get(), 1, &target.device, program.options.c_str(),
                            nullptr, nullptr);
  if (code != CL_SUCCESS) {
    size_t claimed = 0;
    return fail(ErrorCode::kDeviceError, "clBuildProgram: {}\n{}", cl_error_name(code),
                build_log(api, subject.program.get(), target.device, claimed));
  }
  for (int i = 0; i < sets; ++i) {
    subject.kernels.emplace_back(
        api, api.clCreateKernel(subject.program.get(), program.entry.c_str(), &code));
    CLVET_RETURN_IF_ERROR(cl_check(code, "clCreateKernel"));
  }
  return {};
}

Status set_args(const Target& target, const Variant& variant, const std::vector<TensorRole>& roles,
                Subject& subject) {
  for (cl_uint i = 0; i < subject.call.args.size(); ++i) {
    const CallArg& arg = subject.call.args[i];
    const auto set = [&](const ClKernel& kernel, const auto& value) {
      return cl_check(target.api.clSetKernelArg(kernel.get(), i, sizeof value, &value),
                      "clSetKernelArg");
    };
    const bool number = arg.kind == ArgKind::kInt || arg.kind == ArgKind::kFloat;
    for (const ClKernel& kernel : subject.kernels) {
      if (arg.kind == ArgKind::kInt) CLVET_RETURN_IF_ERROR(set(kernel, arg.int_value));
      if (arg.kind == ArgKind::kFloat) CLVET_RETURN_IF_ERROR(set(kernel, arg.float_value));
      if (!number && arg.absent) CLVET_RETURN_IF_ERROR(set(kernel, cl_mem{}));
    }
    if (number || arg.absent) continue;
    const TensorRole* role = role_of(roles, arg);
    if (!role) return fail(ErrorCode::kInternal, "no tensor '{}'", arg.name);
    Content content = content_of(variant, arg, *role);
    subject.bytes += static_cast<double>(content.bytes.size());
    for (const ClKernel& kernel : subject.kernels) {
      CLVET_ASSIGN_OR_RETURN(ClMem memory, memory_of(target, variant, arg, content));
      const cl_mem object = memory.get();
      CLVET_RETURN_IF_ERROR(set(kernel, object));
      subject.memory.push_back(std::move(memory));
    }
  }
  return {};
}

Result<Subject> prepare(const Target& target, const Catalog& catalog, const std::string& name,
                        const Options& options) {
  CLVET_ASSIGN_OR_RETURN(const Variant variant, find_variant(catalog, name));
  CLVET_ASSIGN_OR_RETURN(const Program program, program_of(variant));
  CLVET_ASSIGN_OR_RETURN(const std::vector<TensorRole> roles,
                         find_op_contract(variant.manifest->op)->roles(options.dims));
  Subject subject;
  subject.name = variant.name();
  CLVET_ASSIGN_OR_RETURN(subject.call, make_call(variant, options.dims, options.scalars));
  CLVET_RETURN_IF_ERROR(build(target, program, options.sets, subject));
  CLVET_RETURN_IF_ERROR(set_args(target, variant, roles, subject));
  double outputs = 0, reduction = 0;
  for (const TensorRole& role : roles) {
    if (role.kind == TensorKind::kOutput) outputs += static_cast<double>(role.elements());
    if (role.kind == TensorKind::kWeights) reduction = static_cast<double>(role.taps * role.cin);
  }
  subject.flops = 2 * outputs * reduction;
  return subject;
}

Status launch(const Target& target, int batch, Subject& subject) {
  const size_t* local = subject.call.local[0] ? subject.call.local.data() : nullptr;
  const double started = monotonic_seconds();
  for (int i = 0; i < batch; ++i) {
    const ClKernel& kernel = subject.kernels[static_cast<size_t>(i) % subject.kernels.size()];
    CLVET_RETURN_IF_ERROR(cl_check(
        target.api.clEnqueueNDRangeKernel(target.queue.get(), kernel.get(),
                                          static_cast<cl_uint>(subject.call.work_dim), nullptr,
                                          subject.call.global.data(), local, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel"));
  }
  CLVET_RETURN_IF_ERROR(cl_check(target.api.clFinish(target.queue.get()), "clFinish"));
  subject.samples.push_back(ms_since(started) / batch);
  return {};
}

void print(std::vector<Subject>& subjects) {
  double first = 0;
  for (Subject& subject : subjects) {
    std::sort(subject.samples.begin(), subject.samples.end());
    const double least = subject.samples.front();
    if (first == 0) first = least;
    std::printf("%-50s min %9.4f ms  median %9.4f ms  %7.1f GFLOP/s  %6.1f GB/s  x%.3f\n",
                subject.name.c_str(), least, subject.samples[subject.samples.size() / 2],
                subject.flops / least * 1e-6, subject.bytes / least * 1e-6, least / first);
  }
}

Status bench(int argc, char** argv) {
  CLVET_ASSIGN_OR_RETURN(Options options, parse(argc, argv));
  CLVET_ASSIGN_OR_RETURN(const Catalog catalog, Catalog::embedded());
  for (const Manifest& manifest : catalog.manifests()) {
    for (const ArgSpec& arg : manifest.args) {
      if (arg.kind == ArgKind::kFloat) options.scalars.try_emplace(arg.name, 0);
    }
  }
  CLVET_ASSIGN_OR_RETURN(Target target, open(options));
  CLVET_RETURN_IF_ERROR(connect(target));
  std::vector<Subject> subjects;
  for (const std::string& name : options.variants) {
    CLVET_ASSIGN_OR_RETURN(Subject subject, prepare(target, catalog, name, options));
    subjects.push_back(std::move(subject));
    CLVET_RETURN_IF_ERROR(
        launch(target, options.batch, subjects.back()));  // drivers compile at the first one
    subjects.back().samples.clear();
  }
  const double until = monotonic_seconds() + kSeconds * static_cast<double>(subjects.size());
  while (subjects[0].samples.size() < kLeastRounds || monotonic_seconds() < until) {
    for (Subject& subject : subjects) CLVET_RETURN_IF_ERROR(launch(target, options.batch, subject));
  }
  print(subjects);
  return {};
}

}  // namespace
}  // namespace clvet

int main(int argc, char** argv) {
  const clvet::Status status = clvet::bench(argc, argv);
  if (!status) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status ? 0 : 2;
}
