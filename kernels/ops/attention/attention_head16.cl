// Causal attention of one query over the keys so far, or the last `window` of them; a query head an
// item, 8 keys at a time, 16 channels at a time, in float at every precision.
#define OPEN(j)                                                     \
  const int at##j = min(start + j, last) * pitch + column;          \
  float16 p##j = 0.0f;
#define SCORE(j) p##j = madd(part, to_float16(run_load(k, at##j + t, quads - t)), p##j);
#define ADD(j) \
  value = madd((float16)(weights.s##j), to_float16(run_load(v, at##j + t, quads - t)), value);

__kernel void attention_head16(BUFFER_IN(q), BUFFER_IN(k), BUFFER_IN(v), BUFFER_OUT(y), int M,
                               int H, int KV, int D, int P, int window, float scale) {
  const int head = get_global_id(0);
  const int row = get_global_id(1);
  if (head >= H || row >= M) return;
  const int quads = D / 4;
  const int pitch = KV * quads;
  const int column = head / (H / KV) * quads;
  const int own = (row * H + head) * quads;
  const int last = P + row;
  const int first = window > 0 ? max(0, last - window + 1) : 0;
  const int8 keys = (int8)(0, 1, 2, 3, 4, 5, 6, 7);
  const int16 lanes = (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  float16 query[16], sum[16];
  for (int t = 0; t < quads; t += 4) {
    const float16 part = to_float16(run_load(q, own + t, quads - t)) * scale;
    query[t / 4] = select((float16)(0.0f), part, lanes < (int16)(D - 4 * t));
    sum[t / 4] = 0.0f;
  }
  float largest = -INFINITY;
  float8 total = 0.0f;
  for (int start = first; start <= last; start += 8) {
    EACH_OF_8(OPEN)
    for (int t = 0; t < quads; t += 4) {
      const float16 part = query[t / 4];
      EACH_OF_8(SCORE)
    }
    float8 scores = (float8)(sum_of16(p0), sum_of16(p1), sum_of16(p2), sum_of16(p3), sum_of16(p4),
                             sum_of16(p5), sum_of16(p6), sum_of16(p7));
    scores = select((float8)(-INFINITY), scores, keys <= (int8)(last - start));
    const float4 most4 = fmax(scores.lo, scores.hi);
    const float most = fmax(fmax(most4.s0, most4.s1), fmax(most4.s2, most4.s3));
    if (most > largest) {
      const float keep = exp(largest - most);
      for (int t = 0; t < quads; t += 4) sum[t / 4] *= keep;
      total *= keep;
      largest = most;
    }
    const float8 weights = exp(scores - largest);
    total += weights;
    for (int t = 0; t < quads; t += 4) {
      float16 value = sum[t / 4];
      EACH_OF_8(ADD)
      sum[t / 4] = value;
    }
  }
  const float factor = 1.0f / sum_of8(total);
  for (int t = 0; t < quads; t += 4) {
    const float16 value = sum[t / 4] * factor;
    run_store(y, own + t, quads - t, value, t, D)
  }
}
