// Whole texels moved: the four channels of a texel of y are one texel of x. One texel an item.
// kernels/reference/move.cpp states what the extents and steps mean.
#if ACT_IMAGE
#define READ(row, t) load4(x, (int2)((row) % W * quads + (t), (row) / W))
#else
#define READ(row, t) load4(x, (row)*quads + (t))
#endif

ALONE __kernel void move_texel(ACT_IN(x), ACT_OUT(y), int W, int C, int lines, int OW, int OC, int E1,
                               int E2, int E3, int R0, int R1, int R2, int R3, int Q0, int Q1, int Q2,
                               int Q3, int F1, int F2, int RF0, int RF1, int QF0, int QF1, int row0,
                               int channel0) {
  const int column = get_global_id(0);
  const int line = get_global_id(1);
  const int quads = (C + 3) / 4;
  const int quads_o = (OC + 3) / 4;
  if (column >= OW * quads_o || line >= lines) return;
  const int t = column % quads_o;
  int i = line * OW + column / quads_o;
  const int i3 = i % E3;
  i /= E3;
  const int i2 = i % E2;
  i /= E2;
  const int i1 = i % E1;
  const int i0 = i / E1;
  int j = 4 * t;
  const int j2 = j % F2;
  j /= F2;
  const int j1 = j % F1;
  const int j0 = j / F1;
  const int row = row0 + i0 * R0 + i1 * R1 + i2 * R2 + i3 * R3 + j0 * RF0 + j1 * RF1;
  const int channel =
      channel0 + i0 * Q0 + i1 * Q1 + i2 * Q2 + i3 * Q3 + j0 * QF0 + j1 * QF1 + j2;
  const float4 v = to_float4(READ(row, channel / 4));
  store4(y, texel_at(column, line, OW * quads_o), mask_texel(v, t, OC));
}
