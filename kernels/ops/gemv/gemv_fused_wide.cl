// As gemv_fused_split, of quantised weights that are not scaled one by one: of each block of 32 rows
// of k the sum of x times the numbers is, and the sum of x for the offset. COLUMNS items read VEC
// columns each that lie side by side; each takes QUADS quads of a block at a time. With
// more columns, an item's work on x serves more weights. A group has at most ITEMS items.
#define QUAD                               \
  {                                        \
    float4 v = buffer_load4(x, quad);      \
    if (norm) {                            \
      square = madd(v, v, square);         \
      v *= scale[quad];                    \
    }                                      \
    ones += v;                             \
    v *= W_UNITS;                          \
    floatv w0, w1, w2, w3;                 \
    W_RAW(0, w0, w1, w2, w3);              \
    part = madd((floatv)(v.s0), w0, part); \
    part = madd((floatv)(v.s1), w1, part); \
    part = madd((floatv)(v.s2), w2, part); \
    part = madd((floatv)(v.s3), w3, part); \
  }
#define STORE(lanes, t)                             \
  if ((t) < quads_y) {                              \
    float4 four = lanes;                            \
    if (add) four += to_float4(buffer_load4(r, t)); \
    buffer_store4(y, t, mask_texel(four, t, n));    \
  }

__kernel void gemv_fused_wide(BUFFER_IN(x), __global const float4* restrict scale, W_ARGS,
                              __global const floatv* restrict bias, BUFFER_IN(r), BUFFER_OUT(y),
                              int N, int K, int norm, int gated, int add, int biased, int act,
                              float act_lo, float act_hi, float epsilon) {
  __local floatv sums[ITEMS];
  __local float squares[ITEMS];
  const int slice = get_local_id(1);
  const int slices = get_local_size(1);
  const int half_row = get_local_id(2);
  const int column = get_global_id(0);
  const int quads = (K + 3) / 4;
  const int n = gated ? N / 2 : N;
  const int quads_y = (n + 3) / 4;
  const int columns = (n + VEC - 1) / VEC;
  floatv sum = 0.0f;
  float4 square = 0.0f;
  if (column < columns) {
    W_OPEN(0, half_row * columns + column, quads, (N + 15) / 16 * 16);
    W_RAW_OPEN(0, quads);
    const int top = w_at0, scales_at_top = s_at0;
    for (int at = slice * QUADS; at < quads; at += slices * QUADS) {
      const int end = min(at + QUADS, quads);
      floatv part = 0.0f;
      float4 ones = 0.0f;
      w_at0 = top + at * W_BITS / 4 * w_down0;
      s_at0 = scales_at_top + at / 8 * W_SCALES * s_down0;
      W_BLOCK(0);
      if (end - at == QUADS) {
        // The loads of all these quads are on their way at once.
        _Pragma("unroll") for (int i = 0; i < QUADS; ++i) {
          const int quad = at + i;
          QUAD
        }
      } else {
        for (int quad = at; quad < end; ++quad) QUAD
      }
      sum = madd(part, w_scale0, madd((floatv)(sum_of4(ones)), w_offset0, sum));
    }
  }
  const int own = half_row * slices * COLUMNS + get_local_id(0);
  const int place = own + slice * COLUMNS;
  sums[place] = sum;
  squares[place] = sum_of4(square);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = slices / 2; step > 0; step /= 2) {
    if (slice < step) {
      sums[place] += sums[place + step * COLUMNS];
      squares[place] += squares[place + step * COLUMNS];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (slice > 0 || half_row > 0 || column >= columns) return;
  const float factor = norm ? 1.0f / sqrt(squares[own] / (float)K + epsilon) : 1.0f;
  floatv v = sums[own] * factor, up = gated ? sums[own + slices * COLUMNS] * factor : 1.0f;
  if (biased) {
    v += bias[column];
    if (gated) up += bias[columns + column];
  }
  v = activate(v, act, act_lo, act_hi) * up;
#if VEC == 4
  STORE(v, column)
#else
  const int texel = column * (VEC / 4);
  STORE(v.s0123, texel)
  STORE(v.s4567, texel + 1)
#if VEC == 16
  STORE(v.s89ab, texel + 2)
  STORE(v.scdef, texel + 3)
#endif
#endif
}
