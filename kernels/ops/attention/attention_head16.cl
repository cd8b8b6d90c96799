// Causal attention of one query over the keys so far, or the last `window` of them; a query head an
// item (kernels/common/attention16.clh), in float at every precision.
ALONE __kernel void attention_head16(BUFFER_IN(q), BUFFER_IN(k), BUFFER_IN(v), BUFFER_OUT(y), int M,
                                     int H, int KV, int D, int P, int window, float scale) {
  const int head = get_global_id(0);
  const int row = get_global_id(1);
  const int quads = D / 4;
  const int own = (row * H + head) * quads;
  const int last = P + row;
  const int first = window > 0 ? max(0, last - window + 1) : 0;
  float16 query[16], sum[16];
  for (int t = 0; t < quads; t += 4) {
    const float16 part = to_float16(run_load(q, own + t, quads - t)) * scale;
    query[t / 4] = run_own(part, t, D, 0.0f);
    sum[t / 4] = 0.0f;
  }
  attend16(query, k, v, y, first, last + 1, KV * quads, head / (H / KV) * quads, own, D, -INFINITY,
           (float8)(0.0f), sum);
}
