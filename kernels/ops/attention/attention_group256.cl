// Causal attention of one query over the keys so far, or the last `window` of them; a group of
// GROUP items a query head (kernels/common/attention.clh), in float at every precision.
__kernel void attention_group256(BUFFER_IN(q), BUFFER_IN(k), BUFFER_IN(v), BUFFER_OUT(y), int H,
                                 int KV, int D, int P, int window, float scale) {
  __local float4 query[64];
  __local float4 scores[SCORES];
  __local float4 sums[SUMS];
  const int item = get_local_id(0);
  const int head = get_global_id(1);
  const int row = get_global_id(2);
  const int quads = D / 4;
  const int own = (row * H + head) * quads;
  const int last = P + row;
  const int first = window > 0 ? max(0, last - window + 1) : 0;
  for (int i = item; i < quads; i += GROUP) query[i] = to_float4(buffer_load4(q, own + i)) * scale;
  attend(query, k, v, y, first, last + 1, KV * quads, head / (H / KV) * quads, own, quads,
         -INFINITY, 0.0f, (float4)(0.0f), scores, sums);
}
