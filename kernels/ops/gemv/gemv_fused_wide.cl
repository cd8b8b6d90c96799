// As gemv_fused_split, of quantised weights that are not scaled one by one: of each block of 32 rows
// of k the sum of x times the numbers is, and the sum of x for the offset. COLUMNS items read texels
// that lie side by side; each takes QUADS quads of a block at a time.
#define QUAD                               \
  {                                        \
    float4 v = buffer_load4(x, quad);      \
    if (norm) {                            \
      square += sum_of4(v * v);            \
      v *= scale[quad];                    \
    }                                      \
    ones += sum_of4(v);                    \
    v *= W_UNITS;                          \
    float4 w0, w1, w2, w3;                 \
    W_RAW(0, w0, w1, w2, w3);              \
    part = madd((float4)(v.s0), w0, part); \
    part = madd((float4)(v.s1), w1, part); \
    part = madd((float4)(v.s2), w2, part); \
    part = madd((float4)(v.s3), w3, part); \
  }

__kernel void gemv_fused_wide(BUFFER_IN(x), __global const float4* restrict scale, W_ARGS,
                               __global const float4* restrict bias, BUFFER_IN(r), BUFFER_OUT(y),
                               int N, int K, int norm, int gated, int add, int biased, int act,
                               float act_lo, float act_hi, float epsilon) {
  __local float4 sums[2 * SLICES * COLUMNS];
  __local float squares[2 * SLICES * COLUMNS];
  const int slice = get_local_id(1);
  const int slices = get_local_size(1);
  const int half_row = get_local_id(2);
  const int texel = get_global_id(0);
  const int quads = (K + 3) / 4;
  const int quads_y = ((gated ? N / 2 : N) + 3) / 4;
  const int column = half_row * quads_y + texel;
  float4 sum = 0.0f;
  float square = 0.0f;
  if (texel < quads_y) {
    W_OPEN(0, column, quads, (N + 15) / 16 * 16);
    const int top = w_at0, scales_at_top = s_at0;
    for (int at = slice * QUADS; at < quads; at += slices * QUADS) {
      const int end = min(at + QUADS, quads);
      float4 part = 0.0f;
      float ones = 0.0f;
      w_at0 = top + at * W_BITS / 4 * w_down0;
      s_at0 = scales_at_top + at / 8 * 2 * s_down0;
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
      sum = madd(part, w_scale0, madd((float4)(ones), w_offset0, sum));
    }
  }
  const int own = half_row * slices * COLUMNS + get_local_id(0);
  const int place = own + slice * COLUMNS;
  sums[place] = sum;
  squares[place] = square;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = slices / 2; step > 0; step /= 2) {
    if (slice < step) {
      sums[place] += sums[place + step * COLUMNS];
      squares[place] += squares[place + step * COLUMNS];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (slice > 0 || half_row > 0 || texel >= quads_y) return;
  const float factor = norm ? 1.0f / sqrt(squares[own] / (float)K + epsilon) : 1.0f;
  float4 v = sums[own] * factor, up = gated ? sums[own + slices * COLUMNS] * factor : 1.0f;
  if (biased) {
    v += bias[texel];
    if (gated) up += bias[quads_y + texel];
  }
  v = activate(v, act, act_lo, act_hi) * up;
  if (add) v += to_float4(buffer_load4(r, texel));
  buffer_store4(y, texel, mask_texel(v, texel, gated ? N / 2 : N));
}
