// Float to half, four texels an item.
__kernel void cast_float_half(__global const float4* restrict x, __global half* restrict y, int N, int H,
                              int W, int C) {
  const int first = 4 * get_global_id(0);
  const int texels = (C + 3) / 4 * W * H * N;
  if (first + 4 <= texels) {
    vstore_half16(vload16(0, (__global const float*)(x + first)), 0, y + 4 * (size_t)first);
    return;
  }
  for (int i = first; i < texels; ++i) vstore_half4(x[i], (size_t)i, y);
}
