// The C values of a row reduced to one (kernels/common/reduce.clh), then activated, one row an item.
#define READ(quad) to_float4(load4(x, texel_at(first + (quad), line, W * quads)))

ALONE __kernel void reduce_row(ACT_IN(x), ACT_OUT(y), int M, int W, int C, int code, int act,
                               float act_lo, float act_hi) {
  const int row = get_global_id(0);
  if (row >= M) return;
  const int quads = (C + 3) / 4;
  const int first = row % W * quads;
  const int line = row / W;
  const int last = quads - 1;
  const int4 real_lane = (int4)(0, 1, 2, 3) < (int4)(C - 4 * last);
  const float4 tail = select((float4)(neutral(code)), READ(last), real_lane);
  float4 largest = 0.0f;
  if (code == 9) {
    largest = tail;
    for (int quad = 0; quad < last; ++quad) largest = fmax(largest, READ(quad));
    largest = fmax(largest, largest.s2301);
    largest = fmax(largest, largest.s1032);
    if (isinf(largest.s0)) largest = 0.0f;
  }
  float4 sum = term(code, tail, largest.s0);
  for (int quad = 0; quad < last; ++quad) {
    sum = join(code, sum, term(code, READ(quad), largest.s0));
  }
  sum = join(code, sum, sum.s2301);
  sum = join(code, sum, sum.s1032);
  const float z = finish(code, sum.s0, largest.s0, C);
  const float4 v = activate((float4)(z), act, act_lo, act_hi);
  store4(y, texel_at(row % W, line, W), mask_texel(v, 0, 1));
}
