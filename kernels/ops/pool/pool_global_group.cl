// Largest value (kind 0) or mean (kind 1) of each channel over the image, in float; GROUP items share
// the pixels of 4 channels.
#define pool(a, b) (kind == 0 ? larger(a, b) : (a) + (b))

__kernel void pool_global_group(ACT_IN(x), ACT_OUT(y), int N, int H, int W, int C, int kind) {
  __local float4 partial[GROUP];
  const int item = get_local_id(0);
  const int column = get_global_id(1);
  const int image = get_global_id(2);
  const int quads = (C + 3) / 4;
  const int pixels = H * W;
  float4 sum = 0.0f, largest = -INFINITY;
  for (int pixel = item; pixel < pixels; pixel += GROUP) {
    const texel_pos at =
        texel_at(pixel % W * quads + column, image * H + pixel / W, W * quads);
    const float4 v = to_float4(load4(x, at));
    sum += v;
    largest = larger(largest, v);
  }
  partial[item] = kind == 0 ? largest : sum;
  JOIN_GROUP(pool)
  if (item > 0) return;
  const float4 v = kind == 0 ? partial[0] : partial[0] / (float)pixels;
  store4(y, texel_at(column, image, quads), mask_texel(v, column, C));
}
