// y = softmax over the C values of a row, one row an item, 16 values at a time: largest value, sum,
// quotient. Float at every precision.
#define EACH_STEP for (int t = 0; t < quads; t += 4)
#define READ run_own(to_float16(run_load(x, first + t, quads - t)), t, C, -INFINITY)

ALONE __kernel void softmax_row16(BUFFER_IN(x), BUFFER_OUT(y), int M, int C) {
  const int row = get_global_id(0);
  if (row >= M) return;
  const int quads = (C + 3) / 4;
  const int first = row * quads;
  float16 largest16 = -INFINITY;
  EACH_STEP largest16 = fmax(largest16, READ);
  const float8 largest8 = fmax(largest16.lo, largest16.hi);
  const float4 largest4 = fmax(largest8.lo, largest8.hi);
  const float largest = fmax(fmax(largest4.s0, largest4.s1), fmax(largest4.s2, largest4.s3));
  float16 sum16 = 0.0f;
  EACH_STEP sum16 += exp(READ - largest);
  const float8 sum8 = sum16.lo + sum16.hi;
  const float4 sum4 = sum8.lo + sum8.hi;
  const float sum = (sum4.s0 + sum4.s1) + (sum4.s2 + sum4.s3);
  EACH_STEP {
    const float16 v = exp(READ - largest) / sum;
    run_store(y, first + t, quads - t, v, t, C)
  }
}
