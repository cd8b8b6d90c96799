// y = x * w + bias with int4 weights in an image of int32 beside activations in buffers, as other
// engines keep quantised weights. A texel is 4 rows of 8 columns, which one item computes.
#define ROW(shift, lane)                                           \
  q = convert_float8((words >> (ushort8)(shift)) & (ushort8)(15)); \
  sum = (float8)(v.lane) * (q * scale + offset) + sum

__kernel void gemv_int32_image(__global const float4* restrict x, __read_only image2d_t w,
                               __global const float8* restrict scales,
                               __global const float8* restrict bias, __global float4* restrict y,
                               int N, int K) {
  const int column = get_global_id(0);
  const int quads = (K + 3) / 4;
  const int quads_n = (N + 3) / 4;
  const int down = (N + 15) / 16 * 2;
  if (2 * column >= quads_n) return;
  float8 sum = bias[column];
  float8 scale = 0.0f, offset = 0.0f;
  for (int quad = 0; quad < quads; ++quad) {
    if (quad % 8 == 0) {
      scale = scales[quad / 8 * 2 * down + column];
      offset = scales[(quad / 8 * 2 + 1) * down + column];
    }
    float8 q;
    const float4 v = x[quad];
    const ushort8 words = as_ushort8(read_imagei(w, (int2)(column, quad)));
    ROW(0, s0);
    ROW(4, s1);
    ROW(8, s2);
    ROW(12, s3);
  }
  y[2 * column] = sum.lo;
  if (2 * column + 1 < quads_n) y[2 * column + 1] = sum.hi;
}
