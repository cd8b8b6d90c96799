// Reads, writes, copies, fills and maps of the built-in device.
#include <cstring>

#include "tests/fakes/dispatch.h"
#include "tests/fakes/fast_objects.h"

namespace fake_cl {
namespace {

using Queue = cl_command_queue;
using Events = const cl_event*;

bool inside(cl_mem m, size_t offset, size_t size) {
  return m && m->data && offset <= m->size && size <= m->size - offset;
}

cl_int CL_API_CALL read_buffer(Queue q, cl_mem m, cl_bool, size_t offset, size_t size, void* out,
                               cl_uint, Events, cl_event* event) {
  if (!q) return CL_INVALID_COMMAND_QUEUE;
  if (!inside(m, offset, size) || !out) return CL_INVALID_VALUE;
  std::memcpy(out, m->data + offset, size);
  return complete(q, CL_COMMAND_READ_BUFFER, event);
}

cl_int CL_API_CALL write_buffer(Queue q, cl_mem m, cl_bool, size_t offset, size_t size,
                                const void* in, cl_uint, Events, cl_event* event) {
  if (!q) return CL_INVALID_COMMAND_QUEUE;
  if (!inside(m, offset, size) || !in) return CL_INVALID_VALUE;
  std::memcpy(m->data + offset, in, size);
  return complete(q, CL_COMMAND_WRITE_BUFFER, event);
}

cl_int CL_API_CALL copy_buffer(Queue q, cl_mem from, cl_mem to, size_t from_offset,
                               size_t to_offset, size_t size, cl_uint, Events, cl_event* event) {
  if (!q) return CL_INVALID_COMMAND_QUEUE;
  if (!inside(from, from_offset, size) || !inside(to, to_offset, size)) return CL_INVALID_VALUE;
  std::memmove(to->data + to_offset, from->data + from_offset, size);
  return complete(q, CL_COMMAND_COPY_BUFFER, event);
}

cl_int CL_API_CALL fill_buffer(Queue q, cl_mem m, const void* pattern, size_t step, size_t offset,
                               size_t size, cl_uint, Events, cl_event* event) {
  if (!q) return CL_INVALID_COMMAND_QUEUE;
  if (!inside(m, offset, size) || !pattern || step == 0 || size % step || offset % step) {
    return CL_INVALID_VALUE;
  }
  for (size_t i = 0; i < size; i += step) std::memcpy(m->data + offset + i, pattern, step);
  return complete(q, CL_COMMAND_FILL_BUFFER, event);
}

// A box of rows in memory: origin and pitches in bytes.
struct Box {
  unsigned char* data;
  size_t row_pitch, slice_pitch;
};

void copy_rows(Box to, Box from, size_t row_bytes, size_t rows, size_t slices) {
  for (size_t z = 0; z < slices; ++z) {
    for (size_t y = 0; y < rows; ++y) {
      std::memmove(to.data + z * to.slice_pitch + y * to.row_pitch,
                   from.data + z * from.slice_pitch + y * from.row_pitch, row_bytes);
    }
  }
}

Box image_box(cl_mem m, const size_t* origin) {
  const bool lines = m->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  const size_t row = lines ? m->slice_pitch : m->row_pitch;
  return {m->data + origin[0] * m->element + origin[1] * row + origin[2] * m->slice_pitch, row,
          m->slice_pitch};
}

bool in_image(cl_mem m, const size_t* origin, const size_t* region) {
  if (!m || m->type == CL_MEM_OBJECT_BUFFER || !origin || !region) return false;
  const Box last = image_box(m, origin);
  const size_t begin = static_cast<size_t>(last.data - m->data);
  if (origin[0] + region[0] > m->desc.image_width || !region[0] || !region[1] || !region[2])
    return false;
  const size_t end = begin + (region[2] - 1) * last.slice_pitch + (region[1] - 1) * last.row_pitch +
                     region[0] * m->element;
  return end <= m->size;
}

Box host_box(const void* data, cl_mem m, const size_t* region, size_t row, size_t slice) {
  if (row == 0) row = region[0] * m->element;
  if (slice == 0) slice = row * region[1];
  return {const_cast<unsigned char*>(static_cast<const unsigned char*>(data)), row, slice};
}

cl_int CL_API_CALL read_image(Queue q, cl_mem m, cl_bool, const size_t* origin,
                              const size_t* region, size_t row, size_t slice, void* out, cl_uint,
                              Events, cl_event* event) {
  if (!q) return CL_INVALID_COMMAND_QUEUE;
  if (!in_image(m, origin, region) || !out) return CL_INVALID_VALUE;
  copy_rows(host_box(out, m, region, row, slice), image_box(m, origin), region[0] * m->element,
            region[1], region[2]);
  return complete(q, CL_COMMAND_READ_IMAGE, event);
}

cl_int CL_API_CALL write_image(Queue q, cl_mem m, cl_bool, const size_t* origin,
                               const size_t* region, size_t row, size_t slice, const void* in,
                               cl_uint, Events, cl_event* event) {
  if (!q) return CL_INVALID_COMMAND_QUEUE;
  if (!in_image(m, origin, region) || !in) return CL_INVALID_VALUE;
  copy_rows(image_box(m, origin), host_box(in, m, region, row, slice), region[0] * m->element,
            region[1], region[2]);
  return complete(q, CL_COMMAND_WRITE_IMAGE, event);
}

cl_int CL_API_CALL copy_image(Queue q, cl_mem from, cl_mem to, const size_t* from_origin,
                              const size_t* to_origin, const size_t* region, cl_uint, Events,
                              cl_event* event) {
  if (!in_image(from, from_origin, region) || !in_image(to, to_origin, region))
    return CL_INVALID_VALUE;
  copy_rows(image_box(to, to_origin), image_box(from, from_origin), region[0] * to->element,
            region[1], region[2]);
  return complete(q, CL_COMMAND_COPY_IMAGE, event);
}

cl_int CL_API_CALL image_to_buffer(Queue q, cl_mem image, cl_mem buffer, const size_t* origin,
                                   const size_t* region, size_t offset, cl_uint, Events,
                                   cl_event* event) {
  if (!in_image(image, origin, region)) return CL_INVALID_VALUE;
  const size_t bytes = region[0] * region[1] * region[2] * image->element;
  if (!inside(buffer, offset, bytes)) return CL_INVALID_VALUE;
  copy_rows(host_box(buffer->data + offset, image, region, 0, 0), image_box(image, origin),
            region[0] * image->element, region[1], region[2]);
  return complete(q, CL_COMMAND_COPY_IMAGE_TO_BUFFER, event);
}

cl_int CL_API_CALL buffer_to_image(Queue q, cl_mem buffer, cl_mem image, size_t offset,
                                   const size_t* origin, const size_t* region, cl_uint, Events,
                                   cl_event* event) {
  if (!in_image(image, origin, region)) return CL_INVALID_VALUE;
  const size_t bytes = region[0] * region[1] * region[2] * image->element;
  if (!inside(buffer, offset, bytes)) return CL_INVALID_VALUE;
  copy_rows(image_box(image, origin), host_box(buffer->data + offset, image, region, 0, 0),
            region[0] * image->element, region[1], region[2]);
  return complete(q, CL_COMMAND_COPY_BUFFER_TO_IMAGE, event);
}

// Any color becomes its bytes cut to the pixel; float colors are right for float images only.
cl_int CL_API_CALL fill_image(Queue q, cl_mem m, const void* color, const size_t* origin,
                              const size_t* region, cl_uint, Events, cl_event* event) {
  if (!in_image(m, origin, region) || !color) return CL_INVALID_VALUE;
  unsigned char pixel[16] = {};
  if (m->element == 16) std::memcpy(pixel, color, 16);
  const Box box = image_box(m, origin);
  for (size_t z = 0; z < region[2]; ++z) {
    for (size_t y = 0; y < region[1]; ++y) {
      unsigned char* row = box.data + z * box.slice_pitch + y * box.row_pitch;
      for (size_t x = 0; x < region[0]; ++x) std::memcpy(row + x * m->element, pixel, m->element);
    }
  }
  return complete(q, CL_COMMAND_FILL_IMAGE, event);
}

void* CL_API_CALL map_buffer(Queue q, cl_mem m, cl_bool, cl_map_flags, size_t offset, size_t size,
                             cl_uint, Events, cl_event* event, cl_int* code) {
  const bool fine = q && inside(m, offset, size) && size > 0;
  if (code) *code = fine ? CL_SUCCESS : q ? CL_INVALID_VALUE : CL_INVALID_COMMAND_QUEUE;
  if (!fine) return nullptr;
  ++m->maps;
  complete(q, CL_COMMAND_MAP_BUFFER, event);
  return m->data + offset;
}

void* CL_API_CALL map_image(Queue q, cl_mem m, cl_bool, cl_map_flags, const size_t* origin,
                            const size_t* region, size_t* row, size_t* slice, cl_uint, Events,
                            cl_event* event, cl_int* code) {
  const bool fine = q && in_image(m, origin, region) && row;
  if (code) *code = fine ? CL_SUCCESS : CL_INVALID_VALUE;
  if (!fine) return nullptr;
  ++m->maps;
  *row = m->row_pitch;
  if (slice) *slice = m->type == CL_MEM_OBJECT_IMAGE2D ? 0 : m->slice_pitch;
  complete(q, CL_COMMAND_MAP_IMAGE, event);
  return image_box(m, origin).data;
}

cl_int CL_API_CALL unmap(Queue q, cl_mem m, void* pointer, cl_uint, Events, cl_event* event) {
  auto* at = static_cast<unsigned char*>(pointer);
  if (!q) return CL_INVALID_COMMAND_QUEUE;
  if (!m) return CL_INVALID_MEM_OBJECT;
  if (m->maps == 0 || at < m->data || at >= m->data + m->size) return CL_INVALID_VALUE;
  --m->maps;
  return complete(q, CL_COMMAND_UNMAP_MEM_OBJECT, event);
}

struct Rect {
  size_t row, slice;
  unsigned char* begin;
};
Rect rect(const void* data, const size_t* origin, const size_t* region, size_t row, size_t slice) {
  if (row == 0) row = region[0];
  if (slice == 0) slice = row * region[1];
  auto* base = const_cast<unsigned char*>(static_cast<const unsigned char*>(data));
  return {row, slice, base + origin[0] + origin[1] * row + origin[2] * slice};
}

void copy_rect(const Rect& to, const Rect& from, const size_t* region) {
  copy_rows({to.begin, to.row, to.slice}, {from.begin, from.row, from.slice}, region[0], region[1],
            region[2]);
}

bool rect_inside(cl_mem m, const Rect& r, const size_t* region) {
  if (!m) return false;
  const auto begin = static_cast<size_t>(r.begin - m->data);
  return begin + (region[2] - 1) * r.slice + (region[1] - 1) * r.row + region[0] <= m->size;
}

cl_int CL_API_CALL read_rect(Queue q, cl_mem m, cl_bool, const size_t* origin,
                             const size_t* host_origin, const size_t* region, size_t row,
                             size_t slice, size_t host_row, size_t host_slice, void* out, cl_uint,
                             Events, cl_event* event) {
  if (!m || !out) return CL_INVALID_VALUE;
  const Rect from = rect(m->data, origin, region, row, slice);
  if (!rect_inside(m, from, region)) return CL_INVALID_VALUE;
  copy_rect(rect(out, host_origin, region, host_row, host_slice), from, region);
  return complete(q, CL_COMMAND_READ_BUFFER_RECT, event);
}

cl_int CL_API_CALL write_rect(Queue q, cl_mem m, cl_bool, const size_t* origin,
                              const size_t* host_origin, const size_t* region, size_t row,
                              size_t slice, size_t host_row, size_t host_slice, const void* in,
                              cl_uint, Events, cl_event* event) {
  if (!m || !in) return CL_INVALID_VALUE;
  const Rect to = rect(m->data, origin, region, row, slice);
  if (!rect_inside(m, to, region)) return CL_INVALID_VALUE;
  copy_rect(to, rect(in, host_origin, region, host_row, host_slice), region);
  return complete(q, CL_COMMAND_WRITE_BUFFER_RECT, event);
}

cl_int CL_API_CALL copy_rects(Queue q, cl_mem from, cl_mem to, const size_t* from_origin,
                              const size_t* to_origin, const size_t* region, size_t from_row,
                              size_t from_slice, size_t to_row, size_t to_slice, cl_uint, Events,
                              cl_event* event) {
  if (!from || !to) return CL_INVALID_MEM_OBJECT;
  const Rect source = rect(from->data, from_origin, region, from_row, from_slice);
  const Rect target = rect(to->data, to_origin, region, to_row, to_slice);
  if (!rect_inside(from, source, region) || !rect_inside(to, target, region))
    return CL_INVALID_VALUE;
  copy_rect(target, source, region);
  return complete(q, CL_COMMAND_COPY_BUFFER_RECT, event);
}

cl_int CL_API_CALL migrate(Queue q, cl_uint, const cl_mem*, cl_mem_migration_flags, cl_uint, Events,
                           cl_event* event) {
  return complete(q, CL_COMMAND_MIGRATE_MEM_OBJECTS, event);
}

}  // namespace

void install_fast_transfers(Table& table) {
  set<Fn::clEnqueueReadBuffer>(table, read_buffer);
  set<Fn::clEnqueueWriteBuffer>(table, write_buffer);
  set<Fn::clEnqueueCopyBuffer>(table, copy_buffer);
  set<Fn::clEnqueueFillBuffer>(table, fill_buffer);
  set<Fn::clEnqueueReadImage>(table, read_image);
  set<Fn::clEnqueueWriteImage>(table, write_image);
  set<Fn::clEnqueueCopyImage>(table, copy_image);
  set<Fn::clEnqueueCopyImageToBuffer>(table, image_to_buffer);
  set<Fn::clEnqueueCopyBufferToImage>(table, buffer_to_image);
  set<Fn::clEnqueueFillImage>(table, fill_image);
  set<Fn::clEnqueueMapBuffer>(table, map_buffer);
  set<Fn::clEnqueueMapImage>(table, map_image);
  set<Fn::clEnqueueUnmapMemObject>(table, unmap);
  set<Fn::clEnqueueReadBufferRect>(table, read_rect);
  set<Fn::clEnqueueWriteBufferRect>(table, write_rect);
  set<Fn::clEnqueueCopyBufferRect>(table, copy_rects);
  set<Fn::clEnqueueMigrateMemObjects>(table, migrate);
}

}  // namespace fake_cl
