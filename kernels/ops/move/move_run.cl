// Whole pixels moved: the channels of a pixel of y are neighbouring channels of one row of x, from a
// whole texel on. `pixels` neighbours of a line of y an item, 16 channels at a time.
// kernels/reference/move.cpp states what the extents and steps mean.
__kernel void move_run(BUFFER_IN(x), BUFFER_OUT(y), int pixels, int C, int lines, int OW, int OC,
                       int E1, int E2, int E3, int R0, int R1, int R2, int R3, int Q0, int Q1,
                       int Q2, int Q3, int row0, int channel0) {
  const int first = get_global_id(0) * pixels;
  const int line = get_global_id(1);
  if (first >= OW || line >= lines) return;
  const int quads = (C + 3) / 4;
  const int quads_o = (OC + 3) / 4;
  for (int pixel = line * OW + first; pixel < line * OW + min(first + pixels, OW); ++pixel) {
    const int i3 = pixel % E3, i2 = pixel / E3 % E2;
    const int i1 = pixel / E3 / E2 % E1, i0 = pixel / E3 / E2 / E1;
    const int row = row0 + i0 * R0 + i1 * R1 + i2 * R2 + i3 * R3;
    const int channel = channel0 + i0 * Q0 + i1 * Q1 + i2 * Q2 + i3 * Q3;
    const int from = row * quads + channel / 4;
    for (int t = 0; t < quads_o; t += 4) {
      const float16 v = to_float16(run_load(x, from + t, quads_o - t));
      run_store(y, pixel * quads_o + t, quads_o - t, v, t, OC)
    }
  }
}
