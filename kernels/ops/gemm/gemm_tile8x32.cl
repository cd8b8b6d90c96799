// y[M, N] = act(x * w + bias), TILE_HEIGHT rows by 32 columns an item (kernels/common/tile8x32.clh). Items that
// are neighbours share the larger one of x and w. With ADD, r is added before the activation.
#define OPEN_ROW(i) BUFFER_FROM(x##i) = buffer_at(x, min(row + i, M - 1) * quads);
#define READ(i) buffer_load4(x##i, quad)
#define RUN(QUAD)                              \
  for (int quad = block; quad < end; ++quad) { \
    QUAD(READ)                                 \
    TILE_ASK(quad)                             \
    TILE_KEEP_AFTER(quad, quads)               \
  }

ALONE __kernel void gemm_tile8x32(BUFFER_IN(x), W_ARGS, __global const float16* restrict bias,
                                  R_IN BUFFER_OUT(y), int M, int N, int K, int act, float act_lo,
                                  float act_hi) {
  const int panels = (N + 15) / 16;
  TILE_IDS(M < N)
  const int left = tile_column * 2;
  const int right = min(left + 1, panels - 1);
  const int row = tile_row * TILE_HEIGHT;
  const int quads = (K + 3) / 4, quads_o = (N + 3) / 4;
  EACH_ROW(OPEN_ROW)
  TILE_OPEN(left, right, panels, quads);
  TILE_AHEAD(M < N, left, panels, quads)
  for (int block = 0; block < quads; block += 8) {
    const int end = min(block + 8, quads);
    W_BLOCK(0);
    W_BLOCK(1);
    if (left + 1 < panels) {
      RUN(TILE_QUAD)
    } else {
      RUN(TILE_QUAD_LEFT)
    }
  }
  TILE_FINISH_PLUS(ADD, R_OR(y), left, panels, row * quads_o, quads_o, M - row, N)
}
