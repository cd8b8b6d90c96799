// Two convolutions of one input, a tile for each work-group (kernels/common/conv_group.clh). Groups of the
// first P output channels convolve single pixels, without a border.
__kernel void conv2d_branches_local64(BUFFER_IN(x), W_PARAM(w_pixel), W_PARAM(w_window), __global const float4* restrict bias,
                           BUFFER_OUT(y), int N, int H, int W, int C, int P, int OC, int KH, int KW,
                           int stride_h, int stride_w, int pad_top, int pad_left, int dil_h,
                           int dil_w, int OH, int OW, int act, float act_lo, float act_hi) {
  const int of_pixels = (int)get_group_id(0) * GX * 4 < P;
  VALUES_IN(w) = of_pixels ? w_pixel : w_window;
  CONV_GROUP(of_pixels ? 1 : KH, of_pixels ? 1 : KW, of_pixels ? 0 : pad_top, of_pixels ? 0 : pad_left,
             of_pixels ? 0 : P, of_pixels ? P : OC - P)
}
