// As gemv_fused_wide, but the vector columns are shared evenly among GROUPS groups, as far as ITEMS
// items can hold them, so that all compute units are done at about the same time; and a group keeps
// x, up to ROW texels, in local memory, with its norm's scale. Where ROW is 0 there is no norm, and x
// is read as it lies. An item has one of its group's columns, or of their other halves, and a slice
// of k: QUADS quads of a block at a time, whose loads are all on their way at once, the first of them
// before x is there. ITEMS is a multiple of TOPS, VEC is 8.
#define TOPS 32
#define SHARES 16
#define WORDS (QUADS * W_ROWS(1))
// Without local memory to wait for, NVIDIA's compiler moves loads behind sums that do not need them,
// unless they are volatile.
#if ROW
#define X(i) row[i]
#define WORD(i) w_load(i)
#else
#define X(i) ((i) < quads ? to_float4(buffer_load4(x, i)) : (float4)(0.0f))
#define WORD(i) as_ushort8(((volatile __global const uint4*)w)[i])
#endif
// The words of QUADS quads from `from` on; behind the last row that of the last, which meets zeros.
#define LOAD(from)                                                \
  W_SCALE(0, from);                                               \
  _Pragma("unroll") for (int i = 0; i < WORDS; ++i) words[i] =    \
      WORD(w_at0 + min(W_ROWS(from) + i, W_ROWS(quads) - 1) * w_down0);

// A group must fit with all its registers: of a known size, a compiler sees to that.
__attribute__((reqd_work_group_size(ITEMS, 1, 1)))
__kernel void gemv_fused_even(BUFFER_IN(x), __global const float4* restrict scale, W_ARGS,
                              __global const float4* restrict bias, BUFFER_IN(r), BUFFER_OUT(y),
                              int N, int K, int norm, int gated, int add, int biased, int act,
                              float act_lo, float act_hi, float epsilon) {
#if ROW
  __local float4 row[ROW + QUADS], tops[TOPS / 4];
#endif
  __local floatv sums[ITEMS];
  __local float4 shares_of[ITEMS / 4];
  __local float* parts = (__local float*)shares_of;
  const int item = get_local_id(0);
  const int quads = (K + 3) / 4;
  const int halves = 1 + gated;
  const int n = N / halves;
  const int all = (n + VEC - 1) / VEC;
  const int columns = min((all + GROUPS - 1) / GROUPS, ITEMS / (VEC * halves));
  const int slices = ITEMS / (columns * halves);
  const int slice = item / (columns * halves);
  const int half_row = item / columns % halves;
  const int first = get_global_id(1) * columns;
  const int column = first + item % columns;
  const int step = slices * QUADS;
  W_OPEN(0, half_row * all + column, quads, (N + 15) / 16 * 16);
  W_RAW_OPEN(0, quads);
  w_word words[WORDS];
  int at = slice < slices && column < all ? slice * QUADS : quads;
  if (at < quads) {
    LOAD(at)
  }
#if ROW
  float4 square = 0.0f;
  for (int i = item; i < quads + QUADS; i += ITEMS) {
    float4 v = 0.0f;
    if (i < quads) {
      v = to_float4(buffer_load4(x, i));
      if (norm) {
        square = madd(v, v, square);
        v *= scale[i];
      }
    }
    row[i] = v;
  }
  parts[item] = sum_of4(square);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (norm && item < TOPS) {
    float top = 0.0f;
    for (int i = item; i < ITEMS; i += TOPS) top += parts[i];
    ((__local float*)tops)[item] = top;
  }
#endif
  floatv sum = 0.0f;
  while (at < quads) {
    floatv part = 0.0f;
    float4 ones = 0.0f;
    _Pragma("unroll") for (int i = 0; i < QUADS; ++i) {
      const float4 v = X(at + i);
      const float4 units = v * W_UNITS;
      floatv w0, w1, w2, w3;
      ones += v;
      W_NUMBERS(0, words[i * W_ROWS(1)], words[(i + 1) * W_ROWS(1) - 1], w0, w1, w2, w3)
      part = madd((floatv)(units.s0), w0, part);
      part = madd((floatv)(units.s1), w1, part);
      part = madd((floatv)(units.s2), w2, part);
      part = madd((floatv)(units.s3), w3, part);
    }
    sum = madd(part, w_scale0, madd((floatv)(sum_of4(ones)), w_offset0, sum));
    at += step;
    if (at < quads) {
      LOAD(at)
    }
  }
  sums[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  // Each output has a share of the slices first, then all shares.
  const int width = columns * halves * VEC;
  const int shares = min(ITEMS / width, SHARES);
  const int share = item / width;
  if (share < shares) {
    float total = 0.0f;
    for (int i = share; i < slices; i += shares)
      total += ((__local const float*)sums)[i * width + item % width];
    parts[item] = total;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int texels = columns * VEC / 4;
  const int texel = first * VEC / 4 + item;
  if (item >= texels || texel >= (n + 3) / 4) return;
  float4 v = 0.0f, up = 0.0f;
  for (int i = 0; i < shares; ++i) {
    v += shares_of[i * (width / 4) + item];
    if (gated) up += shares_of[i * (width / 4) + texels + item];
  }
#if ROW
  if (norm) {
    float4 squares = 0.0f;
    for (int i = 0; i < TOPS / 4; ++i) squares += tops[i];
    const float factor = 1.0f / sqrt(sum_of4(squares) / (float)K + epsilon);
    v *= factor;
    up *= factor;
  }
#endif
  if (biased) {
    v += bias[texel];
    if (gated) up += bias[n / 4 + texel];
  }
  v = activate(v, act, act_lo, act_hi);
  if (gated) v *= up;
  if (add) v += to_float4(buffer_load4(r, texel));
  buffer_store4(y, texel, mask_texel(v, texel, n));
}
