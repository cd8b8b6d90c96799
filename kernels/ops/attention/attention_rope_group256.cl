// Attention of one token at position P, whose queries and keys are turned here, over the rows
// before it in the caches, or the last of them that `window` leaves, and its own; a group of GROUP
// items a query head (kernels/common/attention.clh), in float at every precision. The first query
// head of each key head puts row P into the caches; no group reads that row.
__kernel void attention_rope_group256(BUFFER_IN(x), __global const float4* restrict cosines,
                                      __global const float4* restrict sines,
                                      __global const float4* restrict q_scale,
                                      __global const float4* restrict k_scale, BUFFER_IN(k),
                                      BUFFER_IN(v), BUFFER_OUT(y), BUFFER_OUT(new_k),
                                      BUFFER_OUT(new_v), int H, int KV, int D, int P, int window,
                                      int halves, int norm, float epsilon, float scale) {
  __local float4 query[64], key[64];
  __local float4 scores[SCORES];
  __local float4 sums[SUMS];
  const int item = get_local_id(0);
  const int head = get_global_id(1);
  const int quads = D / 4;
  const int shared_by = H / KV;
  const int kv = head / shared_by;
  const int q_at = head * quads;
  const int k_at = (H + kv) * quads;
  const int v_at = (H + KV + kv) * quads;
  const int to = (P * KV + kv) * quads;
  const bool writes = head % shared_by == 0;
  const float q_factor = norm ? rope_factor(x, q_at, quads, epsilon) : 1.0f;
  const float k_factor = norm ? rope_factor(x, k_at, quads, epsilon) : 1.0f;
  for (int g = item; g < quads / 2; g += GROUP) {
    const int a = pair_first(g, halves);
    const int b = pair_second(g, halves, quads);
    const int angle = P * (quads / 2);
    const float8 turned =
        rope_turned(x, cosines, sines, k_scale, k_at, angle, g, quads, halves, norm, k_factor);
    const float8 asked =
        rope_turned(x, cosines, sines, q_scale, q_at, angle, g, quads, halves, norm, q_factor);
    query[a] = asked.lo * scale;
    query[b] = asked.hi * scale;
    key[a] = turned.lo;
    key[b] = turned.hi;
    if (writes) {
      buffer_store4(new_k, to + a, turned.lo);
      buffer_store4(new_k, to + b, turned.hi);
    }
  }
  float4 value = 0.0f;
  if (item < quads) {
    value = to_float4(buffer_load4(x, v_at + item));
    if (writes) buffer_store4(new_v, to + item, value);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  float4 product = 0.0f;
  for (int i = 0; i < quads; ++i) product = madd(query[i], key[i], product);
  const int first = window > 0 ? max(0, P - window + 1) : 0;
  attend(query, k, v, y, first, P, KV * quads, kv * quads, q_at, quads, sum_of4(product), 1.0f,
         value, scores, sums);
}
