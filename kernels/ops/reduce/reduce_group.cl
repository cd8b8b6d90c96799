// The C values of a row reduced to one (kernels/common/reduce.clh), then activated; GROUP items a row.
#define READ(quad)                                                          \
  select((float4)(neutral(code)),                                           \
         to_float4(load4(x, texel_at(first + (quad), line, W * quads))),    \
         (int4)(0, 1, 2, 3) < (int4)(C - 4 * (quad)))
#define fold(a, b) join(code, a, b)

__kernel void reduce_group(ACT_IN(x), ACT_OUT(y), int W, int C, int code, int act, float act_lo,
                           float act_hi) {
  __local float4 partial[GROUP];
  const int item = get_local_id(0);
  const int row = get_global_id(1);
  const int quads = (C + 3) / 4;
  const int first = row % W * quads;
  const int line = row / W;
  float largest = 0.0f;
  if (code == 9) {
    float4 most = -INFINITY;
    for (int quad = item; quad < quads; quad += GROUP) most = fmax(most, READ(quad));
    partial[item] = most;
    JOIN_GROUP(fmax)
    most = fmax(partial[0], partial[0].s2301);
    largest = fmax(most.s0, most.s1);
    if (isinf(largest)) largest = 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  float4 sum = code == 9 ? 0.0f : neutral(code);
  for (int quad = item; quad < quads; quad += GROUP) {
    sum = join(code, sum, term(code, READ(quad), largest));
  }
  partial[item] = sum;
  JOIN_GROUP(fold)
  if (item > 0) return;
  sum = join(code, partial[0], partial[0].s2301);
  sum = join(code, sum, sum.s1032);
  const float z = finish(code, sum.s0, largest, C);
  const float4 v = activate((float4)(z), act, act_lo, act_hi);
  store4(y, texel_at(row % W, line, W), mask_texel(v, 0, 1));
}
