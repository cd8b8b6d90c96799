// The norm of a token's row, its product with the weights of queries, keys and values, and attention
// (attention_rope_group256); a group of GROUP items a query head, in float at every precision. Each
// group computes the three heads that it needs from a row that it keeps: 3 D / 4 columns of four,
// each of which GROUP / (3 D / 4) items share, QUADS quads of a block of weights at a time. So keys
// and values are computed once for each query head that shares them, which costs less than another
// launch where K is small. The norm's factor is the same for all terms: sums are multiplied by it.
#define WORDS (QUADS * W_ROWS(1))
// The words of a block from quad `from` on; behind the last row that of the last, which meets zeros.
#define QKV_LOAD(id, words, from)                   \
  W_SCALE(id, min(from, inputs - 1));               \
  _Pragma("unroll") for (int i = 0; i < WORDS; ++i) \
      words[i] = w_load(w_at##id + min(W_ROWS(from) + i, W_ROWS(inputs) - 1) * w_down##id);
#define QKV_SUM(id, words, from)                                                                   \
  if ((from) < inputs) {                                                                           \
    float4 raw = 0.0f;                                                                             \
    float4 ones = 0.0f;                                                                            \
    _Pragma("unroll") for (int i = 0; i < QUADS; ++i) {                                            \
      const float4 of_row = row[(from) + i];                                                       \
      const float4 units = of_row * W_UNITS;                                                       \
      floatv w0, w1, w2, w3;                                                                       \
      ones += of_row;                                                                              \
      W_NUMBERS(0, words[i * W_ROWS(1)], words[(i + 1) * W_ROWS(1) - 1], w0, w1, w2, w3);          \
      raw = madd((float4)(units.s0), w0, raw);                                                     \
      raw = madd((float4)(units.s1), w1, raw);                                                     \
      raw = madd((float4)(units.s2), w2, raw);                                                     \
      raw = madd((float4)(units.s3), w3, raw);                                                     \
    }                                                                                              \
    sum = madd(raw, w_scale##id, madd((float4)(sum_of4(ones)), w_offset##id, sum));                \
  }

// A group must fit with all its registers: of a known size, a compiler sees to that.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void attention_qkv_group512(
    BUFFER_IN(x), __global const float4* restrict norm_scale, W_ARGS,
    __global const float4* restrict bias, __global const float4* restrict cosines,
    __global const float4* restrict sines, BUFFER_IN(k), BUFFER_IN(v), BUFFER_OUT(y),
    BUFFER_OUT(new_k), BUFFER_OUT(new_v), int N, int K, int H, int KV, int D, int P, int window,
    int halves, int biased, float epsilon, float scale) {
  __local float4 row[256], heads[192], query[64], key[64];
  __local float4 scores[SCORES];
  __local float4 sums[SUMS];
  __local float* squares = (__local float*)scores;
  __local float4* tops = sums + GROUP;
  const int item = get_local_id(0);
  const int head = get_global_id(1);
  const int quads = D / 4;
  const int shared_by = H / KV;
  const int kv = head / shared_by;
  const int inputs = (K + 3) / 4;
  const int columns = 3 * quads;
  const int slices = GROUP / columns;
  const int slice = item / columns;
  const int column = item % columns;
  const int kind = column / quads;
  const int first_quad = (kind == 0 ? head : kind * KV + H - KV + kv) * quads;
  const int texel = first_quad + column % quads;
  W_OPEN(0, texel, inputs, (N + 15) / 16 * 16);
  W_OPEN(1, texel, inputs, (N + 15) / 16 * 16);
  W_RAW_OPEN(0, inputs);
  // Two blocks of weights and what the heads turn by are on their way before the row is.
  const int begin = slice < slices ? slice * QUADS : inputs;
  const int step = slices * QUADS;
  w_word words[WORDS], others[WORDS];
  QKV_LOAD(0, words, begin)
  QKV_LOAD(1, others, begin + step)
  const int angle = P * (quads / 2) + min(item, quads / 2 - 1);
  const float4 c = cosines[angle];
  const float4 s = sines[angle];
  float4 square = 0.0f;
  for (int i = item; i < (inputs + 7) / 8 * 8; i += GROUP) {
    float4 value = 0.0f;
    if (i < inputs) {
      value = to_float4(buffer_load4(x, i));
      square = madd(value, value, square);
      value *= norm_scale[i];
    }
    row[i] = value;
  }
  squares[item] = sum_of4(square);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < TOPS) {
    float4 all = 0.0f;
    for (int i = item; i < SCORES; i += TOPS) all += scores[i];
    ((__local float*)tops)[item] = sum_of4(all);
  }
  float4 sum = 0.0f;
  for (int at = begin; at < inputs; at += 2 * step) {
    if (at > begin) {
      QKV_LOAD(0, words, at)
      QKV_LOAD(1, others, at + step)
    }
    QKV_SUM(0, words, at)
    QKV_SUM(1, others, at + step)
  }
  sums[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < columns) {
    const float mean = sum_of4((tops[0] + tops[1]) + (tops[2] + tops[3])) / (float)K;
    float4 all = 0.0f;
    for (int other = 0; other < slices; ++other) all += sums[other * columns + item];
    all *= 1.0f / sqrt(mean + epsilon);
    if (biased) all += bias[texel];
    heads[item] = all;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int to = (P * KV + kv) * quads;
  const bool writes = head % shared_by == 0;
  if (item < quads / 2) {
    const int a = pair_first(item, halves);
    const int b = pair_second(item, halves, quads);
    const float8 asked = rope_turn((float8)(heads[a], heads[b]), c, s, halves);
    const float8 turned = rope_turn((float8)(heads[quads + a], heads[quads + b]), c, s, halves);
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
    value = heads[2 * quads + item];
    if (writes) buffer_store4(new_v, to + item, value);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  float4 product = 0.0f;
  for (int i = 0; i < quads; ++i) product = madd(query[i], key[i], product);
  const int first = window > 0 ? max(0, P - window + 1) : 0;
  attend(query, k, v, y, first, P, KV * quads, kv * quads, head * quads, quads, sum_of4(product),
         1.0f, value, scores, sums);
}
