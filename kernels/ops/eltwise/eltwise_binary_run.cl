// y = act(x1 code x2) with x2 broadcast along every extent that is 1; `pixels` neighbours of a line
// an item, 16 values at a time. A run is as long as x2 goes on with x1: all the item's pixels, or
// one.
ALONE __kernel void eltwise_binary_run(BUFFER_IN(x1), BUFFER_IN(x2), BUFFER_OUT(y), int pixels, int N,
                                       int H, int W, int C, int N2, int H2, int W2, int C2, int code,
                                       int act, float act_lo, float act_hi) {
  const int first = get_global_id(0) * pixels;
  const int line = get_global_id(1);
  if (first >= W || line >= N * H) return;
  const int quads = (C + 3) / 4;
  const int line2 = (N2 == 1 ? 0 : line / H) * H2 + (H2 == 1 ? 0 : line % H);
  const int one_value = C2 == 1 && (C != 1 || W2 == 1);
  const int count = min(pixels, W - first);
  const int per_run = W2 == (one_value ? 1 : W) ? count : 1;
  const int length = per_run * quads;
  for (int pixel = first; pixel < first + count; pixel += per_run) {
    const int from = (line * W + pixel) * quads;
    const int from2 = (line2 * W2 + (W2 == 1 ? 0 : pixel)) * ((C2 + 3) / 4);
    real16 b = (real16)(buffer_load4(x2, from2).s0);
    for (int t = 0; t < length; t += 4) {
      const real16 a = run_load(x1, from + t, length - t);
      if (!one_value) b = run_load(x2, from2 + t, length - t);
      const float16 v = activate(combine(code, a, b), act, act_lo, act_hi);
      run_store(y, from + t, length - t, v, t, C)
    }
  }
}
