// pool_global through half image calls and a sampler, as other engines read and write their
// activations.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__constant sampler_t nearest =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

__kernel void pool_global_imageh_sampler(__read_only image2d_t x, __write_only image2d_t y, int N,
                                         int H, int W, int C, int kind) {
  const int column = get_global_id(0);
  const int image = get_global_id(1);
  const int quads = (C + 3) / 4;
  if (column >= quads || image >= N) return;
  float4 sum = 0.0f, largest = -INFINITY;
  for (int line = image * H; line < (image + 1) * H; ++line) {
    for (int ix = 0; ix < W; ++ix) {
      const half4 v = read_imageh(x, nearest, (int2)(ix * quads + column, line));
      const float4 f = convert_float4(v);
      sum += f;
      largest = isnan(largest) || f < largest ? largest : f;
    }
  }
  const float4 z = kind == 0 ? largest : sum / (float)(H * W);
  const int4 lane = (int4)(0, 1, 2, 3) < (int4)(C - 4 * column);
  write_imageh(y, (int2)(column, image), convert_half4(select((float4)(0.0f), z, lane)));
}
