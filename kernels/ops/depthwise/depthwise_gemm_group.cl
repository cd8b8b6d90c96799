// y = act(middle * w + bias), middle = middle_act(depthwise 3 x 3 of x + middle_bias). A work-group makes the
// middle of ROWS pixels, one after the other, in local memory, then their product (kernels/common/kept_rows.clh).
// With `add`, r is added before the activation.
#define MIDDLE(quad) \
  activate(windowed(buffer_at(x, image + (quad)), taps + (quad), pitch, iy, ix, H, W, quads, \
                    middle_bias[quad]), middle_act, middle_act_lo, middle_act_hi)
#define STORE(row, texel, sum)                                                             \
  const int to = (row)*quads_o + (texel);                                                  \
  float4 v = (sum) + bias[texel];                                                          \
  if (add) v += to_float4(buffer_load4(r, to));                                            \
  buffer_store4(y, to, mask_texel(activate(v, act, act_lo, act_hi), texel, OC));

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
  const int quads = (C + 3) / 4, quads_o = (OC + 3) / 4, pitch = (C + 15) / 16 * 4;
  KEPT_OPEN;
  const int pixel = min(first + own, M - 1);
  const int line = pixel / OW, image = line / OH * H * W * quads;
  const int iy = line % OH * stride_h - pad_top, ix = pixel % OW * stride_w - pad_left;
  KEPT_FILL(quads, MIDDLE)
  KEPT_RUN(quads, (OC + 15) / 16 * 16)
  KEPT_FINISH(M, quads_o, STORE)
}
