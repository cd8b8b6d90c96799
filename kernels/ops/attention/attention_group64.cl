// Causal attention of one query over the keys so far, or the last `window` of them; a group of 64
// items a query head (kernels/common/attention.clh), in float at every precision.
__kernel void attention_group64(BUFFER_IN(q), BUFFER_IN(k), BUFFER_IN(v), BUFFER_OUT(y), int H,
                                int KV, int D, int P, int window, float scale) {
  __local float4 query[64];
  __local float scores[GROUP];
  __local float4 sums[GROUP];
  attend(q, k, v, y, H, KV, D, P, window, scale, query, scores, sums);
}
