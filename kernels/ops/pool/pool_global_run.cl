// Largest value (kind 0) or mean (kind 1) of each channel over the image, 16 channels an item, one
// float sum a line.
__kernel void pool_global_run(BUFFER_IN(x), BUFFER_OUT(y), int N, int H, int W, int C, int kind) {
  const int texel = get_global_id(0) * 4;
  const int image = get_global_id(1);
  const int quads = (C + 3) / 4;
  if (texel >= quads || image >= N) return;
  const int left = quads - texel;
  float16 sum = 0.0f, largest = -INFINITY;
  for (int line = image * H; line < (image + 1) * H; ++line) {
    float16 part = 0.0f;
    for (int ix = 0; ix < W; ++ix) {
      const float16 v = to_float16(run_load(x, (line * W + ix) * quads + texel, left));
      part += v;
      largest = larger(largest, v);
    }
    sum += part;
  }
  const float16 v = kind == 0 ? largest : sum / (float)(H * W);
  run_store(y, image * quads + texel, left, v, texel, C)
}
