// Winograd's products as the convolution's output: act(A m A' + bias) of each tile m of 4 x 4 products
// (kernels/winograd.h), which are the same pixel of 16 planes of x. Four texels of channels of `tiles`
// neighbouring tiles an item; beyond the last of them there is nothing to loop over.
#define READ(i, j)                                                                              \
  to_float16(run_load(                                                                          \
      x, texel_at(tile * quads + first, line + (i * 4 + j) * lines, across * quads), quads - first))
// Column j of A m.
#define COLUMN(j)                                        \
  const float16 m1##j = READ(1, j), m2##j = READ(2, j);  \
  const float16 upper##j = READ(0, j) + m1##j + m2##j;   \
  const float16 lower##j = m1##j - m2##j - READ(3, j);

__kernel void winograd_out_run(BUFFER_IN(x), __global const float16* restrict bias, BUFFER_OUT(y),
                               int N, int OH, int OW, int OC, int tiles, int act, float act_lo,
                               float act_hi) {
  const int quads = (OC + 3) / 4;
  const int down = (OH + 1) / 2, across = (OW + 1) / 2, lines = N * down;
  const int first = get_global_id(0) * 4;
  const int first_tile = get_global_id(1) * tiles;
  const int line = get_global_id(2);
  if (first >= quads) return;
  const int oy = line % down * 2;
  for (int tile = first_tile; tile < min(first_tile + tiles, across); ++tile) {
    COLUMN(0)
    COLUMN(1)
    COLUMN(2)
    COLUMN(3)
    for (int p = 0; p < 4; ++p) {
      const int y_out = oy + p / 2, x_out = tile * 2 + p % 2;
      if (y_out >= OH || x_out >= OW) continue;
      const float16 sum = pick_of_4(p, upper0 + upper1 + upper2, upper1 - upper2 - upper3,
                                   lower0 + lower1 + lower2, lower1 - lower2 - lower3);
      const float16 v = activate(sum + bias[first / 4], act, act_lo, act_hi);
      const int at = texel_at(x_out * quads + first, line / down * OH + y_out, OW * quads);
      run_store(y, at, quads - first, v, first, OC)
    }
  }
}
