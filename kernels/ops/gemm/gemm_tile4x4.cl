// y[M, N] = act(x * w + bias), 4 rows by 4 columns an item, for any device and storage. The chunk
// of one or two quads is summed in `real`, all beyond in float. The third axis of items is that of
// the products of gemm_batch, whose matrices lie one after the other; as a constant of the text, BATCH
// takes no register from the others, which have none to spare on Mali. With ADD, r is added before the
// activation.
#define STEP(row, at)                   \
  {                                     \
    const real4 v = load4(x, at);       \
    row = madd((real4)(v.s0), w0, row); \
    row = madd((real4)(v.s1), w1, row); \
    row = madd((real4)(v.s2), w2, row); \
    row = madd((real4)(v.s3), w3, row); \
    at += texel_step(1);                \
  }
#define QUAD                 \
  W_QUAD(0, w0, w1, w2, w3); \
  STEP(c0, at0);             \
  STEP(c1, at1);             \
  STEP(c2, at2);             \
  STEP(c3, at3)

ALONE __kernel void gemm_tile4x4(ACT_IN(x), W_ARGS, __global const float4* restrict bias,
                                 R_IN ACT_OUT(y), int M, int N, int K, int W, int act, float act_lo,
                                 float act_hi) {
  const int column = get_global_id(0);
  const int row0 = get_global_id(1) * 4;
  const int matrix = BATCH ? get_global_id(2) : 0, top = matrix * M;
  const int quads = (K + 3) / 4;
  const int quads_n = (N + 3) / 4;
  if (column >= quads_n || row0 >= M) return;
  const int read0 = top + row0, read1 = top + min(row0 + 1, M - 1);
  const int read2 = top + min(row0 + 2, M - 1), read3 = top + min(row0 + 3, M - 1);
  texel_pos at0 = texel_at(read0 % W * quads, read0 / W, W * quads);
  texel_pos at1 = texel_at(read1 % W * quads, read1 / W, W * quads);
  texel_pos at2 = texel_at(read2 % W * quads, read2 / W, W * quads);
  texel_pos at3 = texel_at(read3 % W * quads, read3 / W, W * quads);
  W_OPEN(0, column, quads, (N + 15) / 16 * 16);
  W_PASS(0, matrix * quads);
  float4 sum0 = 0.0f, sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;
  for (int block = 0; block < quads; block += 8) {
    const int end = min(block + 8, quads);
    W_BLOCK(0);
    for (int quad = block; quad < end; quad += CHUNK_QUADS) {
      real4 w0, w1, w2, w3;
      CHUNK_BEGIN(c0, sum0);
      CHUNK_BEGIN(c1, sum1);
      CHUNK_BEGIN(c2, sum2);
      CHUNK_BEGIN(c3, sum3);
      QUAD;
#if CHUNK_QUADS == 2
      if (quad + 1 < end) {
        QUAD;
      }
#endif
      CHUNK_END(c0, sum0);
      CHUNK_END(c1, sum1);
      CHUNK_END(c2, sum2);
      CHUNK_END(c3, sum3);
    }
  }
  for (int i = 0; i < 4 && row0 + i < M; ++i) {
    const int row = top + row0 + i;
    const float4 sum = pick_of_4(i, sum0, sum1, sum2, sum3);
    const texel_pos place = texel_at(row % W * quads_n + column, row / W, W * quads_n);
    const float4 v = activate(sum + bias[column] PLUS_R(place), act, act_lo, act_hi);
    store4(y, place, mask_texel(v, column, N));
  }
}
