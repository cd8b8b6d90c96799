// pool_global on pointers to half types with float arithmetic, as other engines keep their
// activations where this program uses vload_half.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void pool_global_half_types(__global const half4* restrict x, __global half4* restrict y,
                                     int N, int H, int W, int C, int kind) {
  const int column = get_global_id(0);
  const int image = get_global_id(1);
  const int quads = (C + 3) / 4;
  if (column >= quads || image >= N) return;
  float4 sum = 0.0f, largest = -INFINITY;
  for (int pixel = image * H * W; pixel < (image + 1) * H * W; ++pixel) {
    const half4 v = x[pixel * quads + column];
    const float4 f = convert_float4(v);
    sum += f;
    largest = isnan(largest) || f < largest ? largest : f;
  }
  const float4 z = kind == 0 ? largest : sum / (float)(H * W);
  const int4 lane = (int4)(0, 1, 2, 3) < (int4)(C - 4 * column);
  y[image * quads + column] = convert_half4(select((float4)(0.0f), z, lane));
}
