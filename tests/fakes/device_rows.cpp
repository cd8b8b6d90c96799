// The built-in device's answers: a Mali-G78 with half precision. Rows without numbers are only
// names.
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/device_info.h"

namespace fake_cl {

namespace {

const char kExtensions[] =
    "cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
    "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics "
    "cl_khr_byte_addressable_store "
    "cl_khr_3d_image_writes cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_khr_fp16 "
    "cl_khr_icd cl_khr_egl_image cl_khr_image2d_from_buffer cl_khr_depth_images cl_khr_subgroups "
    "cl_khr_create_command_queue cl_khr_extended_versioning cl_arm_core_id cl_arm_printf "
    "cl_arm_non_uniform_work_group_size cl_arm_import_memory cl_arm_integer_dot_product_int8 "
    "cl_arm_integer_dot_product_accumulate_int8 cl_arm_scheduling_controls";

std::string name_versions(std::initializer_list<std::pair<const char*, cl_version>> rows) {
  std::string out;
  for (const auto& [name, version] : rows) {
    cl_name_version row{};
    row.version = version;
    std::string(name).copy(row.name, sizeof row.name - 1);
    out.append(reinterpret_cast<const char*>(&row), sizeof row);
  }
  return out;
}

std::vector<InfoRow> make_rows() {
  using K = InfoRow::Kind;
  constexpr auto kRoundings = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST |
                              CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA;
  constexpr auto kQueue = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
  constexpr auto kAtomics = CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL |
                            CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP | CL_DEVICE_ATOMIC_SCOPE_DEVICE;
  const cl_version v10 = CL_MAKE_VERSION(1, 0, 0), v11 = CL_MAKE_VERSION(1, 1, 0),
                   v12 = CL_MAKE_VERSION(1, 2, 0), v20 = CL_MAKE_VERSION(2, 0, 0),
                   v30 = CL_MAKE_VERSION(3, 0, 0);
#define ROW(name, kind, ...) \
  { #name, name, K::kind, {__VA_ARGS__ }, "" }
#define TEXT(name, ...) \
  { #name, name, K::kString, {}, __VA_ARGS__ }
#define BYTES(name, ...) \
  { #name, name, K::kBytes, {}, __VA_ARGS__ }
  return {
      TEXT(CL_DEVICE_NAME, "Mali-G78 r0p1"),
      TEXT(CL_DEVICE_VENDOR, "ARM"),
      TEXT(CL_DEVICE_VERSION, "OpenCL 3.0 v1.r32p1-01eac0.2a893c04aca45a2e1aa1a24b9a2d8a3d"),
      TEXT(CL_DRIVER_VERSION, "3.0"),
      TEXT(CL_DEVICE_OPENCL_C_VERSION,
           "OpenCL C 3.0 v1.r32p1-01eac0.2a893c04aca45a2e1aa1a24b9a2d8a3d"),
      TEXT(CL_DEVICE_PROFILE, "FULL_PROFILE"),
      TEXT(CL_DEVICE_EXTENSIONS, kExtensions),
      TEXT(CL_DEVICE_BUILT_IN_KERNELS, ""),
      TEXT(CL_DEVICE_IL_VERSION, ""),
      TEXT(CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, "v2021-03-25-00"),
      BYTES(CL_DEVICE_EXTENSIONS_WITH_VERSION, with_versions(kExtensions)),
      BYTES(CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, ""),
      BYTES(CL_DEVICE_ILS_WITH_VERSION, ""),
      BYTES(CL_DEVICE_OPENCL_C_ALL_VERSIONS, name_versions({{"OpenCL C", v10},
                                                            {"OpenCL C", v11},
                                                            {"OpenCL C", v12},
                                                            {"OpenCL C", v20},
                                                            {"OpenCL C", v30}})),
      BYTES(CL_DEVICE_OPENCL_C_FEATURES, name_versions({{"__opencl_c_images", v30},
                                                        {"__opencl_c_3d_image_writes", v30},
                                                        {"__opencl_c_int64", v30},
                                                        {"__opencl_c_subgroups", v30}})),
      BYTES(CL_DEVICE_PARTITION_TYPE, ""),
      ROW(CL_DEVICE_TYPE, kUlong, CL_DEVICE_TYPE_GPU),
      ROW(CL_DEVICE_VENDOR_ID, kUint, 0x92020010),
      ROW(CL_DEVICE_NUMERIC_VERSION, kUint, v30),
      ROW(CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR, kUint, v30),
      ROW(CL_DEVICE_COMPUTE_UNITS_BITFIELD_ARM, kUlong, 0xfffff),
      ROW(CL_DEVICE_SCHEDULING_CONTROLS_CAPABILITIES_ARM, kUlong, 0),
      ROW(CL_DEVICE_MAX_COMPUTE_UNITS, kUint, 20),
      ROW(CL_DEVICE_MAX_CLOCK_FREQUENCY, kUint, 848),
      ROW(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, kUint, 3),
      ROW(CL_DEVICE_MAX_WORK_ITEM_SIZES, kSizes, 512, 512, 512),
      ROW(CL_DEVICE_MAX_WORK_GROUP_SIZE, kSize, 512),
      ROW(CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, kSize, 16),
      ROW(CL_DEVICE_MAX_NUM_SUB_GROUPS, kUint, 32),
      ROW(CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, kUint, 1),
      ROW(CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, kUint, 16),
      ROW(CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, kUint, 8),
      ROW(CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, kUint, 4),
      ROW(CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, kUint, 2),
      ROW(CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, kUint, 4),
      ROW(CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, kUint, 0),
      ROW(CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, kUint, 8),
      ROW(CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, kUint, 16),
      ROW(CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, kUint, 8),
      ROW(CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, kUint, 4),
      ROW(CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, kUint, 2),
      ROW(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, kUint, 4),
      ROW(CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, kUint, 0),
      ROW(CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, kUint, 8),
      ROW(CL_DEVICE_SINGLE_FP_CONFIG, kUlong, kRoundings),
      ROW(CL_DEVICE_HALF_FP_CONFIG, kUlong, kRoundings),
      ROW(CL_DEVICE_DOUBLE_FP_CONFIG, kUlong, 0),
      ROW(CL_DEVICE_ADDRESS_BITS, kUint, 64),
      ROW(CL_DEVICE_ENDIAN_LITTLE, kUint, 1),
      ROW(CL_DEVICE_GLOBAL_MEM_SIZE, kUlong, 4ull << 30),
      ROW(CL_DEVICE_MAX_MEM_ALLOC_SIZE, kUlong, 1ull << 30),
      ROW(CL_DEVICE_ERROR_CORRECTION_SUPPORT, kUint, 0),
      ROW(CL_DEVICE_HOST_UNIFIED_MEMORY, kUint, 1),
      ROW(CL_DEVICE_SVM_CAPABILITIES, kUlong, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER),
      ROW(CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, kUint, 128),
      ROW(CL_DEVICE_MEM_BASE_ADDR_ALIGN, kUint, 1024),
      ROW(CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, kUint, 0),
      ROW(CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, kUint, 0),
      ROW(CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, kUint, 0),
      ROW(CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, kUlong, kAtomics),
      ROW(CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, kUlong, kAtomics),
      ROW(CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, kSize, 65536),
      ROW(CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, kSize, 0),
      ROW(CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, kUint, CL_READ_WRITE_CACHE),
      ROW(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, kUlong, 1 << 20),
      ROW(CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, kUint, 64),
      ROW(CL_DEVICE_IMAGE_SUPPORT, kUint, 1),
      ROW(CL_DEVICE_MAX_SAMPLERS, kUint, 16),
      ROW(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, kSize, 65536),
      ROW(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, kSize, 2048),
      ROW(CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, kUint, 64),
      ROW(CL_DEVICE_IMAGE_PITCH_ALIGNMENT, kUint, 64),
      ROW(CL_DEVICE_IMAGE2D_MAX_WIDTH, kSize, 65536),
      ROW(CL_DEVICE_IMAGE2D_MAX_HEIGHT, kSize, 65536),
      ROW(CL_DEVICE_IMAGE3D_MAX_WIDTH, kSize, 65536),
      ROW(CL_DEVICE_IMAGE3D_MAX_HEIGHT, kSize, 65536),
      ROW(CL_DEVICE_IMAGE3D_MAX_DEPTH, kSize, 65536),
      ROW(CL_DEVICE_MAX_READ_IMAGE_ARGS, kUint, 128),
      ROW(CL_DEVICE_MAX_WRITE_IMAGE_ARGS, kUint, 64),
      ROW(CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, kUint, 64),
      ROW(CL_DEVICE_PIPE_SUPPORT, kUint, 0),
      ROW(CL_DEVICE_MAX_PIPE_ARGS, kUint, 0),
      ROW(CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, kUint, 0),
      ROW(CL_DEVICE_PIPE_MAX_PACKET_SIZE, kUint, 0),
      ROW(CL_DEVICE_LOCAL_MEM_TYPE, kUint, CL_GLOBAL),
      ROW(CL_DEVICE_LOCAL_MEM_SIZE, kUlong, 32768),
      ROW(CL_DEVICE_MAX_CONSTANT_ARGS, kUint, 128),
      ROW(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, kUlong, 65536),
      ROW(CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, kUint, 0),
      ROW(CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, kUint, 0),
      ROW(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, kUint, 1),
      ROW(CL_DEVICE_MAX_PARAMETER_SIZE, kSize, 1024),
      ROW(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, kUlong, kQueue),
      ROW(CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, kUlong, 0),
      ROW(CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, kUint, 0),
      ROW(CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, kUint, 0),
      ROW(CL_DEVICE_MAX_ON_DEVICE_QUEUES, kUint, 0),
      ROW(CL_DEVICE_MAX_ON_DEVICE_EVENTS, kUint, 0),
      ROW(CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, kUlong, 0),
      ROW(CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, kUint, 1),
      ROW(CL_DEVICE_PROFILING_TIMER_RESOLUTION, kSize, 1000),
      ROW(CL_DEVICE_PRINTF_BUFFER_SIZE, kSize, 1 << 20),
      ROW(CL_DEVICE_AVAILABLE, kUint, 1),
      ROW(CL_DEVICE_COMPILER_AVAILABLE, kUint, 1),
      ROW(CL_DEVICE_LINKER_AVAILABLE, kUint, 1),
      ROW(CL_DEVICE_EXECUTION_CAPABILITIES, kUlong, CL_EXEC_KERNEL),
      ROW(CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, kUint, 0),
      ROW(CL_DEVICE_PARTITION_MAX_SUB_DEVICES, kUint, 0),
      ROW(CL_DEVICE_PARTITION_PROPERTIES, kSizes, 0),
      ROW(CL_DEVICE_PARTITION_AFFINITY_DOMAIN, kUlong, 0),
  };
#undef ROW
#undef TEXT
#undef BYTES
}

}  // namespace

const std::vector<InfoRow>& device_rows() {
  static const auto& rows = *new std::vector<InfoRow>(make_rows());
  return rows;
}

}  // namespace fake_cl
