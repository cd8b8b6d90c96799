// y = the level of x under a scale and a zero point that an earlier kernel made; `run` texels an
// item, 16 values at a time.
ALONE __kernel void quantize_by_run(BUFFER_IN(x), BUFFER_IN(scale), BUFFER_IN(zero), BUFFER_OUT(y),
                                    int run, int texels, int C, int kind, float lo, float hi) {
  const int from = get_global_id(0) * run;
  const int length = min(run, texels - from);
  const float by = buffer_load4(scale, 0).s0, origin = buffer_load4(zero, 0).s0;
  for (int t = 0; t < length; t += 4) {
    const real16 a = run_load(x, from + t, length - t);
    const float16 v = quantized(to_float16(a), by, origin, lo, hi, kind);
    run_store(y, from + t, length - t, v, from + t, C)
  }
}
