// y = the level of x, or the number that it stands for; `run` texels an item, 16 values at a time.
ALONE __kernel void quantize_run(BUFFER_IN(x), BUFFER_OUT(y), int run, int texels, int C, int kind,
                                 float scale, float zero, float lo, float hi) {
  const int from = get_global_id(0) * run;
  const int length = min(run, texels - from);
  for (int t = 0; t < length; t += 4) {
    const real16 a = run_load(x, from + t, length - t);
    const float16 v = quantized(to_float16(a), scale, zero, lo, hi, kind);
    run_store(y, from + t, length - t, v, from + t, C)
  }
}
