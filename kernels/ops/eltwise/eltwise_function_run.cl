// y = function `code` of x, `pixels` neighbours of a line an item, 16 values at a time.
ALONE __kernel void eltwise_function_run(BUFFER_IN(x), BUFFER_OUT(y), int pixels, int N, int H, int W, int C,
                                         int code) {
  const int first = get_global_id(0) * pixels;
  const int line = get_global_id(1);
  if (first >= W || line >= N * H) return;
  const int quads = (C + 3) / 4;
  const int from = (line * W + first) * quads;
  const int length = min(pixels, W - first) * quads;
  for (int t = 0; t < length; t += 4) {
    const real16 a = run_load(x, from + t, length - t);
    const float16 v = function_of(to_float16(a), code);
    run_store(y, from + t, length - t, v, t, C)
  }
}
