#include "probe/checks/checked_memory.h"

#include <CL/cl_ext.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

#include "base/memory.h"
#include "probe/cl/api.h"
#include "probe/cl/handles.h"
#include "probe/process/stage_page.h"
#include "probe/report/report.h"
#include "probe/worker/drive.h"
#include "probe/worker/driver_session.h"

namespace clvet {
namespace {

DrivenStatus finish_after(DriverSession& session, Stage stage, const char* name, const auto& call) {
  return run_call(stage, name, [&] {
    const cl_int code = call();
    return code == CL_SUCCESS ? session.api().clFinish(session.queue.get()) : code;
  });
}

class BufferMemory : public CheckedMemory {
 public:
  // `own`: what the buffer is made of; null for one of the driver's own.
  BufferMemory(ClMem buffer, std::shared_ptr<std::byte> own)
      : own_(std::move(own)), buffer_(std::move(buffer)) {}

  DrivenStatus write(DriverSession& session, std::span<const std::byte> bytes) override {
    if (own_) {
      // As the runtime maps what its user writes, who may change a part.
      return mapped(session, CL_MAP_READ | CL_MAP_WRITE, bytes.size(),
                    [&](std::byte* at) { std::memcpy(at, bytes.data(), bytes.size()); });
    }
    return run_call(Stage::kEnqueue, "clEnqueueWriteBuffer", [&] {
      return session.api().clEnqueueWriteBuffer(session.queue.get(), buffer_.get(), CL_TRUE, 0,
                                                bytes.size(), bytes.data(), 0, nullptr, nullptr);
    });
  }

  DrivenStatus set_arg(DriverSession& session, cl_uint index) override {
    const cl_mem object = buffer_.get();
    return run_call(Stage::kCreateKernel, "clSetKernelArg", [&] {
      return session.api().clSetKernelArg(session.built.kernel.get(), index, sizeof object,
                                          &object);
    });
  }

  DrivenStatus read(DriverSession& session, std::span<std::byte> seen) override {
    return mapped(session, CL_MAP_READ, seen.size(),
                  [&](const std::byte* at) { std::memcpy(seen.data(), at, seen.size()); });
  }

  DrivenStatus release(DriverSession&) override {
    const StageMarker stage(Stage::kRelease, "clReleaseMemObject");
    buffer_.reset();
    return {};
  }

 private:
  DrivenStatus mapped(DriverSession& session, cl_map_flags flags, size_t bytes, const auto& touch) {
    const ClApi& api = session.api();
    cl_int status = CL_SUCCESS;
    void* at = nullptr;
    bool elsewhere = false;
    {
      const StageMarker stage(Stage::kMap, "clEnqueueMapBuffer");
      at = api.clEnqueueMapBuffer(session.queue.get(), buffer_.get(), CL_TRUE, flags, 0, bytes, 0,
                                  nullptr, nullptr, &status);
      elsewhere = own_ && at && at != own_.get();
      if (status == CL_SUCCESS && at && !elsewhere) touch(static_cast<std::byte*>(at));
    }
    if (status != CL_SUCCESS) return refused(Stage::kMap, "clEnqueueMapBuffer", status);
    if (!at)
      return lied(Stage::kMap, "clEnqueueMapBuffer",
                  "clEnqueueMapBuffer returned success and a null pointer");
    if (elsewhere)
      return lied(Stage::kMap, "clEnqueueMapBuffer",
                  "a buffer over host memory was mapped at another address");
    return finish_after(session, Stage::kMap, "clEnqueueUnmapMemObject", [&] {
      return api.clEnqueueUnmapMemObject(session.queue.get(), buffer_.get(), at, 0, nullptr,
                                         nullptr);
    });
  }

  std::shared_ptr<std::byte> own_;
  ClMem buffer_;
};

class SvmMemory : public CheckedMemory {
 public:
  explicit SvmMemory(void* memory) : memory_(memory) {}

  DrivenStatus write(DriverSession& session, std::span<const std::byte> bytes) override {
    return mapped(session, CL_MAP_WRITE_INVALIDATE_REGION, bytes.size(),
                  [&] { std::memcpy(memory_, bytes.data(), bytes.size()); });
  }
  DrivenStatus set_arg(DriverSession& session, cl_uint index) override {
    return run_call(Stage::kCreateKernel, "clSetKernelArgSVMPointer", [&] {
      return session.api().clSetKernelArgSVMPointer(session.built.kernel.get(), index, memory_);
    });
  }
  DrivenStatus read(DriverSession& session, std::span<std::byte> seen) override {
    return mapped(session, CL_MAP_READ, seen.size(),
                  [&] { std::memcpy(seen.data(), memory_, seen.size()); });
  }
  DrivenStatus release(DriverSession& session) override {
    const StageMarker stage(Stage::kRelease, "clSVMFree");
    session.api().clSVMFree(session.context.get(), memory_);
    return {};
  }

 private:
  DrivenStatus mapped(DriverSession& session, cl_map_flags flags, size_t bytes, const auto& touch) {
    const ClApi& api = session.api();
    CLVET_DRIVE(run_call(Stage::kMap, "clEnqueueSVMMap", [&] {
      const cl_int code = api.clEnqueueSVMMap(session.queue.get(), CL_TRUE, flags, memory_, bytes,
                                              0, nullptr, nullptr);
      if (code == CL_SUCCESS) touch();
      return code;
    }));
    return finish_after(session, Stage::kMap, "clEnqueueSVMUnmap", [&] {
      return api.clEnqueueSVMUnmap(session.queue.get(), memory_, 0, nullptr, nullptr);
    });
  }

  void* memory_;
};

using Made = Driven<std::unique_ptr<CheckedMemory>>;

Made make_buffer(DriverSession& session, size_t bytes, std::shared_ptr<std::byte> own) {
  const ClApi& api = session.api();
  const cl_mem_flags flags = CL_MEM_READ_WRITE | (own ? CL_MEM_USE_HOST_PTR : 0);
  auto made = create_object<ClMem>(api, Stage::kEnqueue, "clCreateBuffer", [&](cl_int* status) {
    return api.clCreateBuffer(session.context.get(), flags, bytes, own.get(), status);
  });
  if (!made) return tl::unexpected(made.error());
  return std::make_unique<BufferMemory>(std::move(*made), std::move(own));
}

Made make_import(DriverSession& session, size_t bytes) {
  const ClApi& api = session.api();
  using Import = cl_mem(CL_API_CALL*)(cl_context, cl_mem_flags, const cl_import_properties_arm*,
                                      void*, size_t, cl_int*);
  const auto import = api.clGetExtensionFunctionAddressForPlatform
                          ? reinterpret_cast<Import>(api.clGetExtensionFunctionAddressForPlatform(
                                session.platform, "clImportMemoryARM"))
                          : nullptr;
  if (!import)
    return lied(Stage::kEnqueue, "clImportMemoryARM",
                "cl_arm_import_memory is advertised without its function clImportMemoryARM");
  auto own = page_memory(bytes);
  if (!own) return refused(Stage::kEnqueue, "clImportMemoryARM", CL_OUT_OF_HOST_MEMORY);
  const cl_import_properties_arm properties[] = {CL_IMPORT_TYPE_ARM, CL_IMPORT_TYPE_HOST_ARM, 0};
  auto made = create_object<ClMem>(api, Stage::kEnqueue, "clImportMemoryARM", [&](cl_int* status) {
    return import(session.context.get(), CL_MEM_READ_WRITE, properties, own.get(), bytes, status);
  });
  if (!made) return tl::unexpected(made.error());
  return std::make_unique<BufferMemory>(std::move(*made), std::move(own));
}

Made make_svm(DriverSession& session, size_t bytes) {
  const ClApi& api = session.api();
  if (!api.clSVMAlloc || !api.clSVMFree || !api.clSetKernelArgSVMPointer || !api.clEnqueueSVMMap ||
      !api.clEnqueueSVMUnmap)
    return lied(Stage::kEnqueue, "clSVMAlloc", "SVM is advertised without its functions");
  void* memory = nullptr;
  {
    const StageMarker stage(Stage::kEnqueue, "clSVMAlloc");
    memory = api.clSVMAlloc(session.context.get(), CL_MEM_READ_WRITE, bytes, 0);
  }
  if (!memory) return refused(Stage::kEnqueue, "clSVMAlloc", CL_MEM_OBJECT_ALLOCATION_FAILURE);
  return std::make_unique<SvmMemory>(memory);
}

}  // namespace

Made make_checked_memory(DriverSession& session, std::string_view kind, size_t bytes) {
  if (kind == "host_pointer") {
    auto own = page_memory(bytes);
    if (!own) return refused(Stage::kEnqueue, "clCreateBuffer", CL_OUT_OF_HOST_MEMORY);
    return make_buffer(session, bytes, std::move(own));
  }
  if (kind == "arm_import") return make_import(session, bytes);
  if (kind == "svm") return make_svm(session, bytes);
  return make_buffer(session, bytes, nullptr);
}

}  // namespace clvet
