// Winograd's products as the convolution's output: act(A m A' + bias) of each tile m of 4 x 4 products
// (kernels/winograd.h), which are the same pixel of 16 planes of x. RUN texels of channels of `tiles`
// neighbouring tiles an item; beyond the last of them there is nothing to loop over.
#define floats JOIN(float, ACT_VEC)
#if RUN == 4
#define LOAD(pos) to_float16(run_load(x, pos, quads - first))
#define STORE(pos, v) run_store(y, pos, quads - first, v, first, OC)
#else
#define LOAD(pos) to_float4(load4(x, pos))
#define STORE(pos, v) store4(y, pos, mask_texel(v, first, OC));
#endif
#define READ(i, j) LOAD(texel_at(tile * quads + first, line + (i * 4 + j) * lines, across * quads))
// Column j of A m.
#define COLUMN(j)                                        \
  const floats m1##j = READ(1, j), m2##j = READ(2, j);   \
  const floats upper##j = READ(0, j) + m1##j + m2##j;    \
  const floats lower##j = m1##j - m2##j - READ(3, j);

__kernel void winograd_out_texel(ACT_IN(x), __global const floats* restrict bias, ACT_OUT(y), int N,
                                 int OH, int OW, int OC, int tiles, int act, float act_lo,
                                 float act_hi) {
  const int quads = (OC + 3) / 4;
  const int down = (OH + 1) / 2, across = (OW + 1) / 2, lines = N * down;
  const int first = get_global_id(0) * RUN;
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
      const floats sum = pick_of_4(p, upper0 + upper1 + upper2, upper1 - upper2 - upper3,
                                   lower0 + lower1 + lower2, lower1 - lower2 - lower3);
      const floats v = activate(sum + bias[first / RUN], act, act_lo, act_hi);
      STORE(texel_at(x_out * quads + first, line / down * OH + y_out, OW * quads), v)
    }
  }
}
