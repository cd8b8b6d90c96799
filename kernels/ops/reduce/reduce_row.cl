// The C values of a row reduced to one, then activated, one row an item, in float at every precision. The codes are
// those of kernels/reference/reduce.cpp.
#define READ(quad) to_float4(load4(x, texel_at(first + (quad), line, W * quads)))

// What leaves a result as it is, in place of the padding lanes.
static inline float neutral(int code) {
  if (code == 2 || code == 9) return -INFINITY;
  if (code == 3) return INFINITY;
  return code == 4 ? 1.0f : 0.0f;
}

static inline float4 term(int code, float4 v, float largest) {
  if (code == 5) return fabs(v);
  if (code == 6 || code == 7) return v * v;
  return code == 9 ? exp(v - largest) : v;
}

static inline float4 join(int code, float4 a, float4 b) {
  if (code == 2) return larger(a, b);
  if (code == 3) return smaller(a, b);
  return code == 4 ? a * b : a + b;
}

static inline float finish(int code, float v, float largest, int C) {
  if (code == 1) return v / (float)C;
  if (code == 6) return sqrt(v);
  if (code == 8) return log(v);
  return code == 9 ? largest + log(v) : v;
}

__kernel void reduce_row(ACT_IN(x), ACT_OUT(y), int M, int W, int C, int code, int act,
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
