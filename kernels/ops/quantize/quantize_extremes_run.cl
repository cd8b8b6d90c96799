// Row p of y = the largest and the smallest value of the p-th `run` texels, widened to hold 0, as
// padding lanes do; 16 values at a time.
ALONE __kernel void quantize_extremes_run(BUFFER_IN(x), BUFFER_OUT(y), int run, int texels) {
  const int part = get_global_id(0);
  const int from = part * run;
  const int length = min(run, texels - from);
  float16 top = (float16)(0.0f), bottom = (float16)(0.0f);
  for (int t = 0; t < length; t += 4) {
    const real16 loaded = run_load(x, from + t, length - t);
    const float16 v = to_float16(loaded);
    top = larger(top, v);
    bottom = smaller(bottom, v);
  }
  const float8 top8 = larger(top.lo, top.hi), bottom8 = smaller(bottom.lo, bottom.hi);
  const float4 top4 = larger(top8.lo, top8.hi), bottom4 = smaller(bottom8.lo, bottom8.hi);
  const float2 top2 = larger(top4.lo, top4.hi), bottom2 = smaller(bottom4.lo, bottom4.hi);
  buffer_store4(y, part, (float4)(larger(top2.s0, top2.s1), smaller(bottom2.s0, bottom2.s1), 0.0f, 0.0f));
}
