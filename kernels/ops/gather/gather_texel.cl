// y[o, i, r] = x[o, index[i], r]: rows chosen by numbers that are known at run time, one texel an
// item. A number below 0 counts from the end; beyond either end nothing is read and the row is zero.
ALONE __kernel void gather_texel(ACT_IN(x), __global const int* restrict index, ACT_OUT(y), int lines,
                                 int E, int I, int R, int C, int W, int OW) {
  const int column = get_global_id(0);
  const int line = get_global_id(1);
  const int quads = (C + 3) / 4;
  if (column >= OW * quads || line >= lines) return;
  const int t = column % quads;
  const int row = line * OW + column / quads;
  int from = index[row / R % I];
  if (from < 0) from += E;
  float4 v = 0.0f;
  if (from >= 0 && from < E) {
    const int source = (row / R / I * E + from) * R + row % R;
    v = to_float4(load4(x, texel_at(source % W * quads + t, source / W, W * quads)));
  }
  store4(y, texel_at(column, line, OW * quads), mask_texel(v, t, C));
}
