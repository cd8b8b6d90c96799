// Half to float, four texels an item.
__kernel void cast_half_float(__global const half* restrict x, __global float4* restrict y, int N, int H,
                              int W, int C) {
  const int first = 4 * get_global_id(0);
  const int texels = (C + 3) / 4 * W * H * N;
  if (first + 4 <= texels) {
    vstore16(vload_half16(0, x + 4 * (size_t)first), 0, (__global float*)(y + first));
    return;
  }
  for (int i = first; i < texels; ++i) y[i] = vload_half4((size_t)i, x);
}
