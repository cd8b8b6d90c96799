// y = act(x[0..F)) * x[F..2F) of each row, in float at every precision; `texels` neighbours of a row
// an item, 16 values at a time.
ALONE __kernel void glu_run(BUFFER_IN(x), BUFFER_OUT(y), int texels, int M, int F, int act, float act_lo,
                            float act_hi) {
  const int first = get_global_id(0) * texels;
  const int row = get_global_id(1);
  const int quads = F / 4;
  if (first >= quads || row >= M) return;
  const int end = min(first + texels, quads);
  for (int t = first; t < end; t += 4) {
    const int gate = row * 2 * quads + t;
    const float16 a = to_float16(run_load(x, gate, end - t));
    const float16 b = to_float16(run_load(x, gate + quads, end - t));
    const float16 v = activate(a, act, act_lo, act_hi) * b;
    run_store(y, row * quads + t, end - t, v, t, F)
  }
}
