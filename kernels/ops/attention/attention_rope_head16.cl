// Attention of one token at position P, whose queries and keys are turned here, over the rows
// before it in the caches, or the last of them that `window` leaves, and its own; a query head an
// item (kernels/common/attention16.clh), in float at every precision. The first query head of each
// key head puts row P into the caches; no item reads that row.
#define LANES16(from, t) ((float16)(from[t], from[(t) + 1], from[(t) + 2], from[(t) + 3]))

ALONE __kernel void attention_rope_head16(BUFFER_IN(x), __global const float4* restrict cosines,
                                          __global const float4* restrict sines,
                                          __global const float4* restrict q_scale,
                                          __global const float4* restrict k_scale, BUFFER_IN(k),
                                          BUFFER_IN(v), BUFFER_OUT(y), BUFFER_OUT(new_k),
                                          BUFFER_OUT(new_v), int H, int KV, int D, int P, int window,
                                          int halves, int norm, float epsilon, float scale) {
  const int head = get_global_id(0);
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
  float4 turned_q[68], turned_k[68];
  for (int t = quads; t < quads + 4; ++t) {
    turned_q[t] = 0.0f;
    turned_k[t] = 0.0f;
  }
  for (int g = 0; g < quads / 2; ++g) {
    const int a = pair_first(g, halves);
    const int b = pair_second(g, halves, quads);
    const int angle = P * (quads / 2);
    const float8 turned =
        rope_turned(x, cosines, sines, k_scale, k_at, angle, g, quads, halves, norm, k_factor);
    const float8 asked =
        rope_turned(x, cosines, sines, q_scale, q_at, angle, g, quads, halves, norm, q_factor);
    turned_q[a] = asked.lo * scale;
    turned_q[b] = asked.hi * scale;
    turned_k[a] = turned.lo;
    turned_k[b] = turned.hi;
  }
  float16 query[16], sum[16];
  float16 product = 0.0f;
  for (int t = 0; t < quads; t += 4) {
    query[t / 4] = LANES16(turned_q, t);
    const float16 key = LANES16(turned_k, t);
    const float16 value = to_float16(run_load(x, v_at + t, quads - t));
    product = madd(query[t / 4], key, product);
    sum[t / 4] = value;
    if (writes) {
      run_store(new_k, to + t, quads - t, key, t, D)
          run_store(new_v, to + t, quads - t, value, t, D)
    }
  }
  const int first = window > 0 ? max(0, P - window + 1) : 0;
  attend16(query, k, v, y, first, P, KV * quads, kv * quads, q_at, D, sum_of16(product),
           (float8)(1.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f), sum);
}
