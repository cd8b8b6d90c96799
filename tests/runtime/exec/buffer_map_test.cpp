// Mappings against a driver of two functions.
#include "runtime/exec/buffer_map.h"

#include <gmock/gmock.h>

#include <array>
#include <cstddef>
#include <utility>

#include "base/result.h"
#include "probe/cl/api.h"
#include "runtime/exec/cl_status.h"

namespace clvet {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What the driver has, gives and was told.
struct Driver {
  std::array<std::byte, 8> memory{std::byte{1}, std::byte{2}};
  bool null = false;
  cl_int map_code = CL_SUCCESS, unmap_code = CL_SUCCESS;
  int maps = 0, unmaps = 0;
  size_t bytes = 0;
  cl_map_flags flags = 0;
  cl_bool blocking = CL_FALSE;
};
Driver* driver = nullptr;

void* CL_API_CALL map_buffer(cl_command_queue, cl_mem, cl_bool blocking, cl_map_flags flags,
                             size_t offset, size_t bytes, cl_uint, const cl_event*, cl_event*,
                             cl_int* code) {
  ++driver->maps;
  driver->bytes = bytes;
  driver->flags = flags;
  driver->blocking = blocking;
  *code = driver->map_code;
  return driver->null || offset != 0 ? nullptr : driver->memory.data();
}

cl_int CL_API_CALL unmap(cl_command_queue, cl_mem, void* pointer, cl_uint, const cl_event*,
                         cl_event*) {
  ++driver->unmaps;
  EXPECT_EQ(pointer, driver->memory.data());
  return driver->unmap_code;
}

class BufferMapping : public ::testing::Test {
 protected:
  void SetUp() override {
    driver = &driver_;
    api_.clEnqueueMapBuffer = map_buffer;
    api_.clEnqueueUnmapMemObject = unmap;
  }
  Result<BufferMap> read(size_t bytes) {
    return BufferMap::of(api_, nullptr, nullptr, bytes, CL_MAP_READ);
  }
  Driver driver_;
  ClApi api_;
};

TEST_F(BufferMapping, ShowsTheBytesAndEndsOnce) {
  {
    const auto map = read(2);
    ASSERT_TRUE(map) << map.error().message;
    ASSERT_EQ(map->bytes().size(), 2u);
    EXPECT_EQ(map->bytes()[1], std::byte{2});
    EXPECT_EQ(driver_.flags, cl_map_flags{CL_MAP_READ});
    EXPECT_EQ(driver_.blocking, cl_bool{CL_TRUE}) << "the bytes must be there";
    EXPECT_EQ(driver_.bytes, 2u);
    EXPECT_EQ(driver_.unmaps, 0);
  }
  EXPECT_EQ(driver_.maps, 1);
  EXPECT_EQ(driver_.unmaps, 1);
}

TEST_F(BufferMapping, EndsOnceHoweverOftenItIsToldTo) {
  auto map = read(8);
  ASSERT_TRUE(map);
  EXPECT_TRUE(map->unmap());
  EXPECT_THAT(map->bytes(), IsEmpty());
  EXPECT_TRUE(map->unmap());
  EXPECT_EQ(driver_.unmaps, 1);
}

TEST_F(BufferMapping, BelongsToTheOneItWasMovedTo) {
  {
    auto first = read(8);
    ASSERT_TRUE(first);
    const BufferMap second(std::move(*first));
    EXPECT_THAT(first->bytes(), IsEmpty());
    EXPECT_EQ(second.bytes().size(), 8u);
    EXPECT_TRUE(first->unmap()) << "it has nothing to end";
    EXPECT_EQ(driver_.unmaps, 0);
  }
  EXPECT_EQ(driver_.unmaps, 1);
}

TEST_F(BufferMapping, IsADeviceErrorWhereTheDriverFailsOrGivesNull) {
  driver_.map_code = CL_OUT_OF_RESOURCES;
  const auto failed = read(8);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kDeviceError);
  EXPECT_EQ(failed.error().cl_error, CL_OUT_OF_RESOURCES);
  EXPECT_THAT(failed.error().message, HasSubstr("clEnqueueMapBuffer"));
  driver_.map_code = CL_SUCCESS;
  driver_.null = true;
  const auto null = read(8);
  ASSERT_FALSE(null);
  EXPECT_EQ(null.error().code, ErrorCode::kDeviceError);
  EXPECT_THAT(null.error().message, HasSubstr("null pointer"));
  EXPECT_EQ(driver_.unmaps, 0) << "nothing was mapped";
}

TEST_F(BufferMapping, PassesOnWhatTheDriverSaysOfItsEnd) {
  auto map = read(8);
  ASSERT_TRUE(map);
  driver_.unmap_code = CL_INVALID_MEM_OBJECT;
  const Status ended = map->unmap();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kDeviceError);
  EXPECT_THAT(ended.error().message, HasSubstr("clEnqueueUnmapMemObject"));
}

TEST(ClStatus, NamesCallAndCodeWhateverTheCode) {
  EXPECT_TRUE(cl_status(CL_SUCCESS, "clFinish"));
  struct Row {
    cl_int code;
    const char* name;
  };
  for (const auto& [code, name] :
       {Row{CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
        Row{CL_INVALID_VALUE, "CL_INVALID_VALUE"}, Row{-9999, "-9999"}, Row{7, "7"}}) {
    const Status status = cl_status(code, "clFinish");
    ASSERT_FALSE(status) << code;
    EXPECT_EQ(status.error().code, ErrorCode::kDeviceError);
    EXPECT_EQ(status.error().cl_error, code);
    EXPECT_THAT(status.error().message, HasSubstr("clFinish"));
    EXPECT_THAT(status.error().message, HasSubstr(name));
  }
}

}  // namespace
}  // namespace clvet
