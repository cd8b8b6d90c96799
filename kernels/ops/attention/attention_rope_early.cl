// As attention_rope_group256, of heads of D = 16 * MOST values, a group of GROUP items each. An item has MOST
// quads of a key and as many of a value on their way before it computes anything, and the next ones before
// it needs them; what a compute unit loads comes in the order in which it was asked for, so the token's own
// row, which lies nearer, is asked for first. Four items share a key, GROUP / 4 keys are a tile. Then each
// share of items, one for each quad of the values, keeps the largest score, the sum of weights and the
// weighted values of its own keys, which are put together at the end: a tile has one barrier.
#define NEIGHBOURS 4
#define TILE (GROUP / NEIGHBOURS)
#define QUADS (NEIGHBOURS * MOST)
#define SHARES (GROUP / QUADS)
// Items whose keys lie behind the last read that, or the first row of the cache where there is none.
#define ROW_OF(key) (max(min(key, P - 1), 0) * pitch + kv * QUADS)
#define LOAD_KEYS(start)                                                \
  _Pragma("unroll") for (int i = 0; i < MOST; ++i) keys[i] = to_float4( \
      buffer_load4(k, ROW_OF((start) + item / NEIGHBOURS) + i * NEIGHBOURS + item % NEIGHBOURS));
#define LOAD_VALUES(start)                                     \
  _Pragma("unroll") for (int i = 0; i < MOST; ++i) values[i] = \
      to_float4(buffer_load4(v, ROW_OF((start) + i * SHARES + share) + quad));
#define ROOM (QUADS + QUADS / 8 + GROUP + GROUP / 2 + (2 * SHARES + 3) / 4)

// A group must fit with all its registers: of a known size, a compiler sees to that.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void attention_rope_early(BUFFER_IN(x), __global const float4* restrict cosines,
                                   __global const float4* restrict sines,
                                   __global const float4* restrict q_scale,
                                   __global const float4* restrict k_scale, BUFFER_IN(k),
                                   BUFFER_IN(v), BUFFER_OUT(y), BUFFER_OUT(new_k),
                                   BUFFER_OUT(new_v), int H, int KV, int P, int window, int halves,
                                   int norm, float epsilon, float scale) {
  __local float4 room[ROOM];
  const int item = get_local_id(0);
  const int head = get_global_id(1);
  __local float4* const query = room;
  __local float4* const products = query + QUADS;
  __local float4* const sums = products + QUADS / 8;
  __local float4* const scores = sums + GROUP;
  __local float* const tops = (__local float*)(scores + 2 * GROUP / 4);
  __local float* const totals = tops + SHARES;
  const int shared_by = H / KV, kv = head / shared_by;
  const int pitch = KV * QUADS;
  const int share = item / QUADS, quad = item % QUADS;
  const int first = window > 0 ? max(0, P - window + 1) : 0;
  const int q_at = head * QUADS, k_at = (H + kv) * QUADS, v_at = (H + KV + kv) * QUADS;
  const int g = item % (QUADS / 2);
  const int a = pair_first(g, halves), b = pair_second(g, halves, QUADS);
  float8 asked = 0.0f, turned = 0.0f;
  float4 value = 0.0f, cosine = 0.0f, sine = 0.0f;
  if (item < QUADS) {
    asked = (float8)(to_float4(buffer_load4(x, q_at + a)), to_float4(buffer_load4(x, q_at + b)));
    turned = (float8)(to_float4(buffer_load4(x, k_at + a)), to_float4(buffer_load4(x, k_at + b)));
    value = to_float4(buffer_load4(x, v_at + item));
    cosine = cosines[P * (QUADS / 2) + g];
    sine = sines[P * (QUADS / 2) + g];
  }
  float4 keys[MOST], values[MOST];
  LOAD_KEYS(first)
  LOAD_VALUES(first)
  const bool writes = head % shared_by == 0;
  const int to = P * pitch + kv * QUADS;
  if (item < QUADS / 2) {
    asked = rope_scaled(asked, q_scale, g, QUADS, halves, norm,
                        rope_factor(x, q_at, QUADS, epsilon));
    turned = rope_scaled(turned, k_scale, g, QUADS, halves, norm,
                         rope_factor(x, k_at, QUADS, epsilon));
    asked = rope_turn(asked, cosine, sine, halves) * scale;
    turned = rope_turn(turned, cosine, sine, halves);
    query[a] = asked.lo;
    query[b] = asked.hi;
    ((__local float*)products)[item] = sum_of4(asked.lo * turned.lo + asked.hi * turned.hi);
    if (writes) {
      buffer_store4(new_k, to + a, turned.lo);
      buffer_store4(new_k, to + b, turned.hi);
    }
  }
  if (item < QUADS && writes) buffer_store4(new_v, to + item, value);
  barrier(CLK_LOCAL_MEM_FENCE);
  // The token's own row belongs to the first share.
  float top = -MAXFLOAT, total = 0.0f;
  float4 sum = 0.0f;
  if (share == 0) {
    float4 product = 0.0f;
    for (int i = 0; i < QUADS / 8; ++i) product += products[i];
    top = sum_of4(product);
    total = 1.0f;
    sum = value;
  }
  __local float4* scores_of = scores;
  __local float4* others = scores + GROUP / 4;
  for (int start = first; start < P; start += TILE) {
    float4 product = 0.0f;
#pragma unroll
    for (int i = 0; i < MOST; ++i)
        product = madd(query[i * NEIGHBOURS + item % NEIGHBOURS], keys[i], product);
    ((__local float*)scores_of)[item] = sum_of4(product);
    if (start + TILE < P) {
      LOAD_KEYS(start + TILE)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float own[MOST], now = top;
#pragma unroll
    for (int i = 0; i < MOST; ++i) {
      const int place = i * SHARES + share;
      own[i] = start + place < P ? sum_of4(scores_of[place]) : -INFINITY;
      now = larger(now, own[i]);
    }
    const float keep = exp(top - now);
    sum *= keep;
    total *= keep;
    top = now;
#pragma unroll
    for (int i = 0; i < MOST; ++i) {
      const float weight = exp(own[i] - now);
      const float4 added = madd((float4)(weight), values[i], sum);
      const bool there = start + i * SHARES + share < P;
      sum = there ? added : sum;
      total += there ? weight : 0.0f;
    }
    if (start + TILE < P) {
      LOAD_VALUES(start + TILE)
    }
    __local float4* last = scores_of;
    scores_of = others;
    others = last;
  }
  if (quad == 0) tops[share] = top;
  barrier(CLK_LOCAL_MEM_FENCE);
  float most = tops[0];
#pragma unroll
  for (int i = 1; i < SHARES; ++i) most = larger(most, tops[i]);
  const float factor = exp(top - most);
  sums[item] = sum * factor;
  if (quad == 0) totals[share] = total * factor;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < QUADS) {
    float4 all = 0.0f;
    float weights = 0.0f;
#pragma unroll
    for (int i = 0; i < SHARES; ++i) {
      all += sums[i * QUADS + item];
      weights += totals[i];
    }
    buffer_store4(y, q_at + item, all / weights);
  }
}
