// Sums of x along an axis whose L places are `step` pixels apart: 4 channels of one line an item. Where
// `step` is 0, the axis is that of channels, and an item has one row. Padding lanes of x are zero:
// read backwards, they come first.
#if ACT_IMAGE
#define AT(pixel, quad) ((int2)((pixel) % W * quads + (quad), (pixel) / W))
#else
#define AT(pixel, quad) ((pixel)*quads + (quad))
#endif

ALONE __kernel void cum_sum_line(ACT_IN(x), ACT_OUT(y), int items, int W, int C, int L, int step,
                                 int exclusive, int reverse) {
  const int item = get_global_id(0);
  if (item >= items) return;
  const int quads = (C + 3) / 4;
  const int along = step == 0 ? 1 : 0;
  const int lines = max(step, 1) * quads;
  const int first = along != 0 ? item : item / lines * L * step + item % lines / quads;
  const int column = along != 0 ? 0 : item % quads;
  const int count = along != 0 ? quads : L;
  float4 sum = 0.0f;
  for (int t = 0; t < count; ++t) {
    const int i = reverse != 0 ? count - 1 - t : t;
    const int pixel = first + i * step;
    const int quad = column + i * along;
    const float4 given = to_float4(load4(x, AT(pixel, quad)));
    float4 before = sum, next = sum + given;
    if (along != 0) {
      const float4 v = reverse != 0 ? given.s3210 : given;
      const float a = sum.s3 + v.s0, b = a + v.s1, c = b + v.s2;
      before = (float4)(sum.s3, a, b, c);
      next = (float4)(a, b, c, c + v.s3);
    }
    const float4 z = exclusive != 0 ? before : next;
    const float4 turned = along != 0 && reverse != 0 ? z.s3210 : z;
    store4(y, AT(pixel, quad), mask_texel(turned, quad, C));
    sum = next;
  }
}
