// y = softmax over the C values of a row: largest value, sum, quotient, in float at every precision;
// GROUP items a row.
#define READ(quad) to_float4(load4(x, texel_at(first + (quad), line, W * quads)))
#define REAL_READ(quad) \
  select((float4)(-INFINITY), READ(quad), (int4)(0, 1, 2, 3) < (int4)(C - 4 * (quad)))

__kernel void softmax_group(ACT_IN(x), ACT_OUT(y), int W, int C) {
  __local float partial[GROUP];
  const int item = get_local_id(0);
  const int row = get_global_id(1);
  const int quads = (C + 3) / 4;
  const int first = row % W * quads;
  const int line = row / W;
  float4 largest4 = -INFINITY;
  for (int quad = item; quad < quads; quad += GROUP) largest4 = fmax(largest4, REAL_READ(quad));
  partial[item] = fmax(fmax(largest4.s0, largest4.s1), fmax(largest4.s2, largest4.s3));
  JOIN_GROUP(fmax)
  const float largest = partial[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  float4 sum4 = 0.0f;
  for (int quad = item; quad < quads; quad += GROUP) sum4 += exp(REAL_READ(quad) - largest);
  partial[item] = sum_of4(sum4);
  JOIN_GROUP(plus)
  const float share = 1.0f / partial[0];
  for (int quad = item; quad < quads; quad += GROUP) {
    const float4 v = exp(READ(quad) - largest) * share;
    store4(y, texel_at(first + quad, line, W * quads), mask_texel(v, quad, C));
  }
}
