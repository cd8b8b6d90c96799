// Direct convolution, a tile for each work-group (kernels/common/conv_group.clh).
__kernel void conv2d_local64(BUFFER_IN(x), W_ARGS, __global const float4* restrict bias,
                           BUFFER_OUT(y), int N, int H, int W, int C, int OC, int KH, int KW,
                           int stride_h, int stride_w, int pad_top, int pad_left, int dil_h,
                           int dil_w, int OH, int OW, int act, float act_lo, float act_hi) {
  CONV_GROUP(KH, KW, pad_top, pad_left, 0, OC)
}
