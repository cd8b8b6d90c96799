// y = softmax over the C values of a row, one row an item: largest value, sum, quotient. Float at
// every precision.
#define READ(quad) to_float4(load4(x, texel_at(first + (quad), line, W * quads)))

ALONE __kernel void softmax_row(ACT_IN(x), ACT_OUT(y), int M, int W, int C) {
  const int row = get_global_id(0);
  if (row >= M) return;
  const int quads = (C + 3) / 4;
  const int first = row % W * quads;
  const int line = row / W;
  const int last = quads - 1;
  const int4 real_lane = (int4)(0, 1, 2, 3) < (int4)(C - 4 * last);
  const float4 tail = select((float4)(-INFINITY), READ(last), real_lane);
  float4 largest4 = tail;
  for (int quad = 0; quad < last; ++quad) largest4 = fmax(largest4, READ(quad));
  const float largest = fmax(fmax(largest4.s0, largest4.s1), fmax(largest4.s2, largest4.s3));
  float4 sum4 = exp(tail - largest);
  for (int quad = 0; quad < last; ++quad) sum4 += exp(READ(quad) - largest);
  const float sum = (sum4.s0 + sum4.s1) + (sum4.s2 + sum4.s3);
  for (int quad = 0; quad < last; ++quad) {
    store4(y, texel_at(first + quad, line, W * quads), exp(READ(quad) - largest) / sum);
  }
  const float4 v = exp(tail - largest) / sum;
  store4(y, texel_at(first + last, line, W * quads), mask_texel(v, last, C));
}
