// Causal attention of QUERIES queries that share a key head, over the keys so far, or the last
// `window` of them; a group of GROUP items for each four (kernels/common/attention_tile.clh), in
// float at every precision. Of the queries of a key head, those of a row come one after the other.
__kernel void attention_tile4(BUFFER_IN(q), BUFFER_IN(k), BUFFER_IN(v), BUFFER_OUT(y), int M, int H,
                              int KV, int D, int P, int window, float scale) {
  __local float4 query[64 * QUERIES];
  __local float4 scores[SCORES];
  __local float4 sums[SUMS];
  const int item = get_local_id(0);
  const int kv = get_global_id(1);
  const int tile = get_global_id(2) * QUERIES;
  const int quads = D / 4;
  __local int* own = LAST + QUERIES + 1;  // where a query's quads begin
  if (item < QUERIES) {
    const int shared_by = H / KV;
    const int at = min(tile + item, M * shared_by - 1);
    const int row = at / shared_by;
    LAST[item] = P + row;
    own[item] = (row * H + kv * shared_by + at % shared_by) * quads;
  }
  if (item == 0) {
    PARTIAL[GROUP] = -INFINITY;
    LAST[QUERIES] = window > 0 ? window : P + M;
  }
  TOTALS[item] = 0.0f;
  EACH(i, QUERIES) sums[i * GROUP + item] = 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = item; i < QUERIES * quads; i += GROUP) {
    const float4 texel = to_float4(buffer_load4(q, own[i / quads] + i % quads));
    query[i / quads * 64 + i % quads] = texel * scale;
  }
  const int first = max(0, LAST[0] - LAST[QUERIES] + 1);
  const per_query total =
      attend_tile(query, k, v, first, KV * quads, kv * quads, quads, scores, sums);
  if (item >= quads) return;
  for (int i = 0; i < min(QUERIES, M * (H / KV) - tile); ++i) {
    const float4 all = attended(sums, i, item, quads);
    buffer_store4(y, own[i] + item, all / of_query(total, i));
  }
}
