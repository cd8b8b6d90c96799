// x1 to x4 one after the other along n, h, w or c (axis 0 to 3), P1 to P4 long; a part of c begins
// with a whole texel. y is then runs of whole texels of x1, x2, x3, x4 in turn; `texels` texels of y
// an item. Padding lanes of the inputs are zero and are copied with the rest.
static inline void copy(BUFFER_IN(x), BUFFER_OUT(y), int from, int to, int count) {
  for (int t = 0; t + 4 <= count; t += 4) {
    buffer_store16(y, to + t, to_float16(buffer_load16(x, from + t)));
  }
  if (count % 4 == 0) return;
  if (count > 4) {
    buffer_store16(y, to + count - 4, to_float16(buffer_load16(x, from + count - 4)));
    return;
  }
  for (int t = 0; t < count; ++t) buffer_store4(y, to + t, to_float4(buffer_load4(x, from + t)));
}

ALONE __kernel void concat_run(BUFFER_IN(x1), BUFFER_IN(x2), BUFFER_IN(x3), BUFFER_IN(x4), BUFFER_OUT(y),
                               int texels, int N, int H, int W, int C, int axis, int P1, int P2, int P3,
                               int P4) {
  const int quads = (C + 3) / 4;
  const int end = min(((int)get_global_id(0) + 1) * texels, N * H * W * quads);
  const int unit = quads * (axis < 2 ? W : 1) * (axis < 1 ? H : 1);
  const int4 parts = (int4)(P1, P2, P3, P4);
  const int4 runs = axis == 3 ? (parts + 3) / 4 : parts * unit;
  const int2 pair = (int2)(runs.s0, runs.s0 + runs.s1);
  const int whole = pair.s1 + runs.s2 + runs.s3;
  int at = get_global_id(0) * texels;
  while (at < end) {
    const int block = at / whole;
    int in = at % whole;
    const int part = in < pair.s0 ? 0 : in < pair.s1 ? 1 : in < pair.s1 + runs.s2 ? 2 : 3;
    in -= part == 0 ? 0 : part == 1 ? pair.s0 : part == 2 ? pair.s1 : pair.s1 + runs.s2;
    const int run = part == 0 ? runs.s0 : part == 1 ? runs.s1 : part == 2 ? runs.s2 : runs.s3;
    const int count = min(run - in, end - at);
    if (part == 0) copy(x1, y, block * run + in, at, count);
    if (part == 1) copy(x2, y, block * run + in, at, count);
    if (part == 2) copy(x3, y, block * run + in, at, count);
    if (part == 3) copy(x4, y, block * run + in, at, count);
    at += count;
  }
}
