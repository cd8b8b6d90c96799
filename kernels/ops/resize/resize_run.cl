// Nearest (mode 0) or linear (mode 1) resampling, `pixels` neighbours of an output line an item, 16
// channels at a time. The last 16 channels of a pixel are moved back to end where it does. Padding
// lanes of x are zero, and so are those that are made of them.
#define FROM(line, ix) (((line)*W + (ix)) * quads)
#define NEAREST(lanes) buffer_store##lanes(y, to + t, FLOAT(lanes)(buffer_load##lanes(x, from + t)))
#define FLOAT(lanes) to_float##lanes
#define MIX(lanes, a, b)                               \
  mix(FLOAT(lanes)(buffer_load##lanes(x, (a) + t)), \
      FLOAT(lanes)(buffer_load##lanes(x, (b) + t)), sx - floor_x)
#define LINEAR(lanes)       \
  buffer_store##lanes(y, to + t, \
                      mix(MIX(lanes, at0, at1), MIX(lanes, at2, at3), sy - floor_y))
#define EACH_RUN(DO)                              \
  if (quads < 4) {                                \
    for (int t = 0; t < quads; ++t) DO(4);        \
  } else {                                        \
    for (int run = 0; run < quads; run += 4) {    \
      const int t = min(run, quads - 4);          \
      DO(16);                                     \
    }                                             \
  }

ALONE __kernel void resize_run(BUFFER_IN(x), BUFFER_OUT(y), int pixels, int N, int H, int W, int C,
                               int OH, int OW, int mode, int transform, int rounding, float scale_h,
                               float scale_w) {
  const int first = get_global_id(0) * pixels;
  const int out = get_global_id(1);
  if (first >= OW || out >= N * OH) return;
  const int quads = (C + 3) / 4;
  const int image = out / OH * H;
  const float sy = source(transform, out % OH, H, OH, scale_h);
  const float floor_y = floor(sy);
  const int top = image + clamp((int)floor_y, 0, H - 1);
  const int low = image + clamp((int)floor_y + 1, 0, H - 1);
  const int line = image + nearest(rounding, sy, H);
  for (int pixel = first; pixel < min(first + pixels, OW); ++pixel) {
    const int to = (out * OW + pixel) * quads;
    const float sx = source(transform, pixel, W, OW, scale_w);
    if (mode == 0) {
      const int from = FROM(line, nearest(rounding, sx, W));
      EACH_RUN(NEAREST)
      continue;
    }
    const float floor_x = floor(sx);
    const int left = clamp((int)floor_x, 0, W - 1), right = clamp((int)floor_x + 1, 0, W - 1);
    const int at0 = FROM(top, left), at1 = FROM(top, right);
    const int at2 = FROM(low, left), at3 = FROM(low, right);
    EACH_RUN(LINEAR)
  }
}
