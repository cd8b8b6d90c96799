#include "tests/fakes/corrupt.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/half.h"
#include "tests/fakes/dispatch.h"
#include "tests/fakes/scenario.h"
#include "tests/fakes/tracker.h"

namespace fake_cl {
namespace {

using Bytes = std::vector<unsigned char>;

size_t element_size(const cl_image_format& format) {
  size_t channels = 4;
  if (format.image_channel_order == CL_R || format.image_channel_order == CL_A ||
      format.image_channel_order == CL_INTENSITY || format.image_channel_order == CL_LUMINANCE) {
    channels = 1;
  } else if (format.image_channel_order == CL_RG || format.image_channel_order == CL_RA) {
    channels = 2;
  }
  switch (format.image_channel_data_type) {
    case CL_FLOAT:
    case CL_SIGNED_INT32:
    case CL_UNSIGNED_INT32:
      return channels * 4;
    case CL_HALF_FLOAT:
    case CL_SIGNED_INT16:
    case CL_UNSIGNED_INT16:
    case CL_SNORM_INT16:
    case CL_UNORM_INT16:
      return channels * 2;
    default:
      return channels;
  }
}

size_t bytes_of(const MemInfo& info) {
  if (!info.image) return info.size;
  return info.region[0] * info.region[1] * info.region[2] * element_size(info.format);
}

// Reads or writes a whole image, or `data.size()` bytes of a buffer from `offset`.
void transfer(cl_command_queue queue, const Output& output, size_t offset, Bytes& data,
              bool write) {
  const size_t origin[3] = {0, 0, 0};
  if (output.info.image && write) {
    real<Fn::clEnqueueWriteImage>()(queue, output.mem, CL_TRUE, origin, output.info.region, 0, 0,
                                    data.data(), 0, nullptr, nullptr);
  } else if (output.info.image) {
    real<Fn::clEnqueueReadImage>()(queue, output.mem, CL_TRUE, origin, output.info.region, 0, 0,
                                   data.data(), 0, nullptr, nullptr);
  } else if (write) {
    real<Fn::clEnqueueWriteBuffer>()(queue, output.mem, CL_TRUE, offset, data.size(), data.data(),
                                     0, nullptr, nullptr);
  } else {
    real<Fn::clEnqueueReadBuffer>()(queue, output.mem, CL_TRUE, offset, data.size(), data.data(), 0,
                                    nullptr, nullptr);
  }
}

template <class Edit>
void edit(cl_command_queue queue, const Output& output, size_t begin, size_t count, Edit change) {
  const size_t total = bytes_of(output.info);
  if (begin >= total) return;
  count = std::min(count, total - begin);
  const bool image = output.info.image;
  Bytes data(image ? total : count);
  transfer(queue, output, begin, data, false);
  change(data.data() + (image ? begin : 0), count);
  transfer(queue, output, begin, data, true);
}

// The zone beyond (or before) a sub-buffer in its parent; of a plain buffer, its last (first)
// bytes.
void scribble(const Rule& rule, cl_command_queue queue, const Output& output) {
  if (output.info.image) return;
  const size_t count = rule.parameters.value("bytes", size_t{64});
  const bool before = rule.parameters.value("side", "after") == std::string("before");
  const auto xor_all = [](unsigned char* data, size_t n) {
    for (size_t i = 0; i < n; ++i) data[i] ^= 0xA5;
  };
  const auto& info = output.info;
  if (!info.parent) {
    const size_t at = before || info.size < count ? 0 : info.size - count;
    return edit(queue, output, at, count, xor_all);
  }
  const auto parent = Tracker::instance().mem(info.parent);
  if (!parent) return;
  const size_t room = before ? std::min(count, info.origin) : count;
  const size_t at = before ? info.origin - room : info.origin + info.size;
  if (room > 0) edit(queue, {info.parent, *parent}, at, room, xor_all);
}

// Every NaN of a tensor of float32 becomes 0.
void drop_nan(unsigned char* data, size_t n) {
  for (size_t i = 0; i + sizeof(float) <= n; i += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, data + i, sizeof value);
    if (std::isnan(value)) std::memset(data + i, 0, sizeof value);
  }
}

// Every float32 becomes what half precision makes of it.
void round_to_half(unsigned char* data, size_t n) {
  for (size_t i = 0; i + sizeof(float) <= n; i += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, data + i, sizeof value);
    value = clvet::half_to_float(clvet::float_to_half(value));
    std::memcpy(data + i, &value, sizeof value);
  }
}

void spoil(const Rule& rule, cl_command_queue queue, const Output& output) {
  const auto& p = rule.parameters;
  const size_t total = bytes_of(output.info);
  const size_t middle = p.value("offset", total / 2 / 16 * 16);
  if (rule.action == "zeros") {
    edit(queue, output, 0, total, [&](unsigned char* data, size_t n) {
      std::fill_n(data, n, p.value("byte", static_cast<unsigned char>(0)));
    });
  } else if (rule.action == "drop_nan") {
    edit(queue, output, 0, total, drop_nan);
  } else if (rule.action == "round_half") {
    if (output.type.starts_with("float")) edit(queue, output, 0, total, round_to_half);
  } else if (rule.action == "wrong_tile") {
    edit(queue, output, middle, p.value("bytes", size_t{64}), [](unsigned char* data, size_t n) {
      for (size_t i = 0; i < n; ++i) data[i] ^= 0x55;
    });
  } else if (rule.action == "bit_flip") {
    const size_t bit = p.value("bit", size_t{3});
    edit(queue, output, middle + bit / 8, 1, [&](unsigned char* data, size_t) {
      *data ^= static_cast<unsigned char>(1u << (bit % 8));
    });
  } else {
    scribble(rule, queue, output);
  }
}

}  // namespace

bool corrupts(const Rule& rule) {
  return rule.action == "zeros" || rule.action == "wrong_tile" || rule.action == "bit_flip" ||
         rule.action == "out_of_bounds" || rule.action == "drop_nan" || rule.action == "round_half";
}

void corrupt_outputs(const Rule& rule, cl_command_queue queue, cl_kernel kernel) {
  if (!corrupts(rule)) return;
  const uint64_t every =
      rule.parameters.value("every", uint64_t{rule.action == "bit_flip" ? 2u : 1u});
  if (every > 1 && rule.matches % every != 0) return;
  real<Fn::clFinish>()(queue);
  const std::string only = rule.parameters.value("only", "");
  for (const Output& output : Tracker::instance().outputs(kernel)) {
    if (only == "image" && !output.info.image) continue;
    if (only == "buffer" && output.info.image) continue;
    spoil(rule, queue, output);
  }
}

}  // namespace fake_cl
