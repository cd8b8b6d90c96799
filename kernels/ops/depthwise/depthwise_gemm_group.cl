// y = act(middle * w + bias), middle = middle_act(depthwise 3 x 3 of x + middle_bias). A work-group makes the
// middle of PIXELS pixels, one after the other, in local memory, then their product with the weights of 4 *
// COLUMNS columns. SHARE items make the middle of a pixel; then LAYERS items share the rows of a column texel,
// and others add up their sums. With `add`, r is added before the activation. Local size: (COLUMNS, 1, LAYERS).
#define ITEMS (COLUMNS * LAYERS)
#define SHARE (ITEMS / PIXELS)
#define ROOM (MIDDLE_QUADS > ITEMS ? PIXELS * MIDDLE_QUADS : PIXELS * ITEMS)
#define TERM(i, lane, row) sum[i] = madd((float4)(v.lane), row, sum[i]);

// v and the sum over a window that begins in column `ix` of line `iy`. Loads wait for no branch: in the
// place of what lies outside the nearest pixel is read, and does not count. `x` begins with the image.
static inline float4 windowed(BUFFER_FROM(x), __global const float4* taps, int pitch, int iy, int ix,
                              int H, int W, int quads, float4 v) {
  _Pragma("unroll") for (int k = 0; k < 9; ++k) {
    const int line = clamp(iy + k / 3, 0, H - 1), place = clamp(ix + k % 3, 0, W - 1);
    const float4 seen = to_float4(buffer_load4(x, (line * W + place) * quads));
    const int within = line == iy + k / 3 && place == ix + k % 3;
    v = madd(within ? seen : (float4)(0.0f), taps[k * pitch], v);
  }
  return v;
}

__kernel void depthwise_gemm_group(BUFFER_IN(x), __global const float4* restrict taps,
                                   __global const float4* restrict middle_bias, W_ARGS,
                                   __global const float4* restrict bias, BUFFER_IN(r), BUFFER_OUT(y),
                                   int M, int H, int W, int C, int OC, int stride_h, int stride_w,
                                   int pad_top, int pad_left, int OH, int OW, int middle_act,
                                   float middle_act_lo, float middle_act_hi, int add, int act,
                                   float act_lo, float act_hi) {
  __local float4 middle[ROOM];
  const int quads = (C + 3) / 4, quads_o = (OC + 3) / 4, pitch = (C + 15) / 16 * 4;
  const int columns = (OC + 15) / 16 * 16;
  const int first = get_group_id(1) * PIXELS;
  const int layer = get_local_id(2), item = layer * COLUMNS + get_local_id(0);
  const int column = min((int)get_global_id(0), columns / 4 - 1);
  const int own = item / SHARE, pixel = min(first + own, M - 1);
  const int line = pixel / OW;
  const int iy = line % OH * stride_h - pad_top, ix = pixel % OW * stride_w - pad_left;
  for (int quad = item % SHARE; quad < quads; quad += SHARE) {
    const float4 v = windowed(buffer_at(x, line / OH * H * W * quads + quad), taps + quad, pitch, iy,
                              ix, H, W, quads, middle_bias[quad]);
    middle[own * quads + quad] = activate(v, middle_act, middle_act_lo, middle_act_hi);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  W_OPEN(0, column, quads, columns);
  const w_pos w_first = w_at0;
  float4 sum[PIXELS] = {0.0f};
  _Pragma("unroll 2") for (int quad = layer; quad < quads; quad += LAYERS) {
    real4 w0, w1, w2, w3;
    w_at0 = w_first + quad * W_ROWS(1) * w_down0;
    W_QUAD(0, w0, w1, w2, w3);
    _Pragma("unroll") for (int i = 0; i < PIXELS; ++i) {
      const float4 v = middle[i * quads + quad];
      TERM(i, s0, w0) TERM(i, s1, w1) TERM(i, s2, w2) TERM(i, s3, w3)
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < PIXELS; ++i) middle[i * ITEMS + item] = sum[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int at = item; at < PIXELS * COLUMNS; at += ITEMS) {
    const int row = first + at / COLUMNS, texel = get_group_id(0) * COLUMNS + at % COLUMNS;
    if (row >= M || texel >= quads_o) continue;
    float4 z = bias[texel];
    for (int i = 0; i < LAYERS; ++i)
      z += middle[at / COLUMNS * ITEMS + i * COLUMNS + at % COLUMNS];
    const int to = row * quads_o + texel;
    if (add) z += to_float4(buffer_load4(r, to));
    buffer_store4(y, to, mask_texel(activate(z, act, act_lo, act_hi), texel, OC));
  }
}
