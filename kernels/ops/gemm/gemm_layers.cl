// y[M, N] = act(x * w + bias), by rows that a work-group keeps (kernels/common/kept_rows.clh). With ADD, r is added
// before the activation.
#define TEXEL(quad) to_float4(buffer_load4(x, from + (quad)))
#define STORE(row, texel, sum)                                                   \
  const int to = (row)*quads_n + (texel);                                        \
  const float4 v = activate((sum) + bias[texel] PLUS_R(to), act, act_lo, act_hi); \
  buffer_store4(y, to, mask_texel(v, texel, N));

__kernel void gemm_layers(BUFFER_IN(x), W_ARGS, __global const float4* restrict bias,
                          R_IN BUFFER_OUT(y), int M, int N, int K, int act, float act_lo,
                          float act_hi) {
  const int quads = (K + 3) / 4, quads_n = (N + 3) / 4;
  KEPT_OPEN;
  const int from = min(first + own, M - 1) * quads;
  KEPT_FILL(quads, TEXEL)
  KEPT_RUN(quads, (N + 15) / 16 * 16)
  KEPT_FINISH(M, quads_n, STORE)
}
