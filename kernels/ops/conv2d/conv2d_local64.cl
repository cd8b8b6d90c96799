// Direct convolution, zero padding, as a product of output pixels in reading order by output
// channels, a tile for each work-group (kernels/common/group_tile.clh). A texel of k is four input
// channels of one tap; each of the texels that an item fetches has a tap (row, column) of its own.
#define STEP (QUADS * SLICES)
#define INSIDE(n)                                                                          \
  (tap_row[n] < KH && (uint)(iy0 + tap_row[n] * dil_h) < (uint)H &&                        \
   (uint)(ix0 + tap_column[n] * dil_w) < (uint)W)
#define AT(n) (origin + (tap_row[n] * dil_h * W + tap_column[n] * dil_w) * quads + tap_quad[n])
#define READ(n, quad) (INSIDE(n) ? to_float4(buffer_load4(x, AT(n))) : (float4)0.0f)
#define MOVE                                             \
  _Pragma("unroll") for (int n = 0; n < A_EACH; ++n) {   \
    tap_quad[n] += STEP;                                 \
    if (tap_quad[n] >= quads) {                          \
      tap_column[n] += tap_quad[n] / quads;              \
      tap_quad[n] %= quads;                              \
      if (tap_column[n] >= KW) {                         \
        tap_row[n] += tap_column[n] / KW;                \
        tap_column[n] %= KW;                             \
      }                                                  \
    }                                                    \
  }
#define STORE(tile_row, column, sum)                                                         \
  if (first + (tile_row) < rows && (column) < quads_o) {                                     \
    const float4 v = activate((sum) + bias[column], act, act_lo, act_hi);                    \
    buffer_store4(y, (first + (tile_row)) * quads_o + (column), mask_texel(v, column, OC));  \
  }

__kernel void conv2d_local64(BUFFER_IN(x), W_ARGS, __global const float4* restrict bias,
                           BUFFER_OUT(y), int N, int H, int W, int C, int OC, int KH, int KW,
                           int stride_h, int stride_w, int pad_top, int pad_left, int dil_h,
                           int dil_w, int OH, int OW, int act, float act_lo, float act_hi) {
  const int quads = (C + 3) / 4;
  const int quads_k = KH * KW * quads;
  const int quads_o = (OC + 3) / 4;
  const int rows = N * OH * OW;
  const int first = get_group_id(1) * TILE_ROWS;
  GROUP_TILE_OPEN(0, quads_k, (OC + 15) / 16 * 16);
  const int row = min(first + a_row, rows - 1);
  const int iy0 = row / OW % OH * stride_h - pad_top;
  const int ix0 = row % OW * stride_w - pad_left;
  const int origin = ((row / OW / OH * H + iy0) * W + ix0) * quads;
  int tap_row[A_EACH], tap_column[A_EACH], tap_quad[A_EACH];
  for (int n = 0; n < A_EACH; ++n) {
    const int quad = layer * QUADS + a_quad + n * A_STEP;
    tap_row[n] = quad / quads / KW;
    tap_column[n] = quad / quads % KW;
    tap_quad[n] = quad % quads;
  }
  GROUP_TILE_RUN(quads_k)
  GROUP_TILE_FINISH(STORE)
}
