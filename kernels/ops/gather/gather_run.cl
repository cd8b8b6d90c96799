// y[o, i, r] = x[o, index[i], r]: rows chosen by numbers that are known at run time, `rows` of them
// an item, 16 values at a time. A number below 0 counts from the end; beyond either end nothing is
// read and the row is zero.
ALONE __kernel void gather_run(BUFFER_IN(x), __global const int* restrict index, BUFFER_OUT(y), int rows,
                               int all, int E, int I, int R, int C) {
  const int first = get_global_id(0) * rows;
  const int quads = (C + 3) / 4;
  for (int row = first; row < min(first + rows, all); ++row) {
    int from = index[row / R % I];
    if (from < 0) from += E;
    const int inside = from >= 0 && from < E;
    const int source = ((row / R / I * E + from) * R + row % R) * quads;
    for (int t = 0; t < quads; t += 4) {
      float16 v = 0.0f;
      if (inside) v = to_float16(run_load(x, source + t, quads - t));
      run_store(y, row * quads + t, quads - t, v, t, C)
    }
  }
}
