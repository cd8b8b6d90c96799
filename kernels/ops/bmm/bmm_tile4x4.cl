// y = act(x1 * x2) for each pair of matrices, 4 rows by 4 columns an item, for any device and
// storage. One chunk of half products is one texel of x1.
#define OPEN_ROW(i) texel_pos at##i = texel_at(min(row + i, M - 1) * quads, line, M * quads)
#define STEP(i, sum)                  \
  {                                   \
    const real4 v = load4(x1, at##i); \
    CHUNK_BEGIN(c, sum);              \
    c = madd((real4)(v.s0), b0, c);   \
    c = madd((real4)(v.s1), b1, c);   \
    c = madd((real4)(v.s2), b2, c);   \
    c = madd((real4)(v.s3), b3, c);   \
    CHUNK_END(c, sum);                \
    at##i += texel_step(1);           \
  }

ALONE __kernel void bmm_tile4x4(ACT_IN(x1), ACT_IN(x2), ACT_OUT(y), int N, int H, int M, int K, int C,
                                int N2, int H2, int act, float act_lo, float act_hi) {
  const int column = get_global_id(0);
  const int row = get_global_id(1) * 4;
  const int line = get_global_id(2);
  const int quads = (K + 3) / 4;
  const int quads_c = (C + 3) / 4;
  if (column >= quads_c || row >= M || line >= N * H) return;
  const int line2 = (N2 == 1 ? 0 : line / H) * H2 + (H2 == 1 ? 0 : line % H);
  OPEN_ROW(0);
  OPEN_ROW(1);
  OPEN_ROW(2);
  OPEN_ROW(3);
  texel_pos down = texel_at(column, line2, K * quads_c);
  float4 sum0 = 0.0f, sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;
  for (int k = 0; k < K; k += 4) {
    const real4 none = (real)0;
    const real4 b0 = load4(x2, down);
    const real4 b1 = k + 1 < K ? load4(x2, down + texel_step(quads_c)) : none;
    const real4 b2 = k + 2 < K ? load4(x2, down + texel_step(2 * quads_c)) : none;
    const real4 b3 = k + 3 < K ? load4(x2, down + texel_step(3 * quads_c)) : none;
    STEP(0, sum0);
    STEP(1, sum1);
    STEP(2, sum2);
    STEP(3, sum3);
    down += texel_step(4 * quads_c);
  }
  for (int i = 0; i < 4 && row + i < M; ++i) {
    const float4 v = activate(pick_of_4(i, sum0, sum1, sum2, sum3), act, act_lo, act_hi);
    store4(y, texel_at((row + i) * quads_c + column, line, M * quads_c), mask_texel(v, column, C));
  }
}
