// Winograd's products as the convolution's output: act(A m A' + bias) of each tile m of 4 x 4 products
// (kernels/winograd.h), which are the same pixel of 16 planes of x. One of the two rows of a texel of
// channels an item: both take more registers than Mali has.
#define READ(i, j)                                                                          \
  to_float4(load4(x, texel_at(tile * quads + quad, line + (i * 4 + j) * lines, across * quads)))
// Column j of that row of A m.
#define COLUMN(j)                                                                           \
  float4 v##j;                                                                              \
  {                                                                                         \
    const float4 m = READ(3 * half_of, j), m1 = READ(1, j), m2 = READ(2, j);                \
    v##j = half_of ? m1 - m2 - m : m + m1 + m2;                                             \
  }

ALONE __kernel void winograd_out_texel(ACT_IN(x), __global const float4* restrict bias, ACT_OUT(y), int N,
                                       int OH, int OW, int OC, int act, float act_lo, float act_hi) {
  const int quads = (OC + 3) / 4;
  const int down = (OH + 1) / 2, across = (OW + 1) / 2, lines = N * down;
  const int quad = get_global_id(0);
  const int tile = get_global_id(1);
  const int line = (int)get_global_id(2) / 2;
  const int half_of = (int)get_global_id(2) % 2;
  const int oy = line % down * 2 + half_of;
  if (quad >= quads || tile >= across || oy >= OH) return;
  COLUMN(0)
  COLUMN(1)
  COLUMN(2)
  COLUMN(3)
  for (int p = 0; p < min(2, OW - tile * 2); ++p) {
    const float4 sum = p == 0 ? v0 + v1 + v2 : v1 - v2 - v3;
    const float4 v = activate(sum + bias[quad], act, act_lo, act_hi);
    store4(y, texel_at((tile * 2 + p) * quads + quad, line / down * OH + oy, OW * quads),
           mask_texel(v, quad, OC));
  }
}
