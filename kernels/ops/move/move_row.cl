// Elements moved, a loop for each axis and no division but for an item's first row: `pixels`
// neighbouring rows of y an item. kernels/reference/move.cpp states what the extents and steps mean.
#define ELEMENTS(step)                                                                 \
  for (int j0 = 0; j0 < F0; ++j0) {                                                    \
    for (int j1 = 0; j1 < F1; ++j1) {                                                  \
      const int from = at + j0 * step0 + j1 * step1;                                   \
      for (int j2 = 0; j2 < F2; ++j2) buffer_move1(y, to + j2, x, from + j2 * (step)); \
      to += F2;                                                                        \
    }                                                                                  \
  }

ALONE __kernel void move_row(BUFFER_IN(x), BUFFER_OUT(y), int pixels, int C, int rows, int OC, int E1,
                             int E2, int E3, int R0, int R1, int R2, int R3, int Q0, int Q1, int Q2,
                             int Q3, int F0, int F1, int F2, int RF0, int RF1, int RF2, int QF0, int QF1,
                             int QF2, int row0, int channel0) {
  const int first = get_global_id(0) * pixels;
  if (first >= rows) return;
  const int pitch = (C + 3) / 4 * 4, pitch_o = (OC + 3) / 4 * 4;
  const int down0 = R0 * pitch + Q0, down1 = R1 * pitch + Q1;
  const int down2 = R2 * pitch + Q2, down3 = R3 * pitch + Q3;
  const int step0 = RF0 * pitch + QF0, step1 = RF1 * pitch + QF1, step2 = RF2 * pitch + QF2;
  int i3 = first % E3, i2 = first / E3 % E2, i1 = first / E3 / E2 % E1;
  int at = row0 * pitch + channel0 + first / E3 / E2 / E1 * down0 + i1 * down1 + i2 * down2 +
           i3 * down3;
  int to = first * pitch_o;
  for (int left = min(pixels, rows - first); left > 0; --left) {
    if (step2 == 1) {
      ELEMENTS(1)
    } else {
      ELEMENTS(step2)
    }
    for (int c = OC; c < pitch_o; ++c) buffer_store1(y, to++, 0.0f);
    at += down3;
    if (++i3 < E3) continue;
    i3 = 0;
    at += down2 - E3 * down3;
    if (++i2 < E2) continue;
    i2 = 0;
    at += down1 - E2 * down2;
    if (++i1 < E1) continue;
    i1 = 0;
    at += down0 - E1 * down1;
  }
}
