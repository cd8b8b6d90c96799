// x1 to x4 one after the other along c, P1 to P4 long; `pixels` neighbouring rows of y an item, for
// processors. Parts may begin anywhere.
#define PART(x, length)                                    \
  {                                                        \
    const int from = pixel * (((length) + 3) / 4 * 4);     \
    for (int c = 0; c < (length); ++c) {                   \
      buffer_move1(y, to + c, x, from + c);                \
    }                                                      \
    to += (length);                                        \
  }

ALONE __kernel void concat_row(BUFFER_IN(x1), BUFFER_IN(x2), BUFFER_IN(x3), BUFFER_IN(x4), BUFFER_OUT(y),
                               int pixels, int rows, int C, int P1, int P2, int P3, int P4) {
  const int first = get_global_id(0) * pixels;
  const int end = min(first + pixels, rows);
  const int pitch = (C + 3) / 4 * 4;
  for (int pixel = first; pixel < end; ++pixel) {
    int to = pixel * pitch;
    PART(x1, P1)
    PART(x2, P2)
    PART(x3, P3)
    PART(x4, P4)
    for (; to < (pixel + 1) * pitch; ++to) buffer_store1(y, to, 0.0f);
  }
}
