// Largest value (kind 0) or mean (kind 1) of each channel over the image, 16 channels an item. Four
// columns have sums of their own, in float, from which each line's sum is made.
#define READ(ix) to_float16(run_load(x, (line * W + (ix)) * quads + texel, left))
#define EACH_LINE for (int line = image * H; line < (image + 1) * H; ++line)

ALONE __kernel void pool_global_run(BUFFER_IN(x), BUFFER_OUT(y), int N, int H, int W, int C, int kind) {
  const int texel = get_global_id(0) * 4;
  const int image = get_global_id(1);
  const int quads = (C + 3) / 4;
  if (texel >= quads || image >= N) return;
  const int left = quads - texel;
  float16 v = kind == 0 ? -INFINITY : 0.0f;
  if (kind == 0) {
    EACH_LINE {
      for (int ix = 0; ix < W; ++ix) {
        const float16 value = READ(ix);
        v = larger(v, value);
      }
    }
  } else {
    EACH_LINE {
      float16 sum0 = 0.0f, sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;
      int ix = 0;
      for (; ix + 4 <= W; ix += 4) {
        sum0 += READ(ix);
        sum1 += READ(ix + 1);
        sum2 += READ(ix + 2);
        sum3 += READ(ix + 3);
      }
      for (; ix < W; ++ix) sum0 += READ(ix);
      v += (sum0 + sum1) + (sum2 + sum3);
    }
    v /= (float)(H * W);
  }
  run_store(y, image * quads + texel, left, v, texel, C)
}
