// y[M, N] = act(x * w + bias), a tile of the product for each work-group (kernels/common/group_tile.clh).
// The third axis of groups is that of the products of gemm_batch, whose matrices lie one after the other.
// With ADD, r is added before the activation.
#define READ(n, quad) \
  ((quad) < quads ? to_float4(buffer_load4(x, at + (quad))) : (float4)0.0f)
#define MOVE
#define STORE(tile_row, column, sum)                                                  \
  if (first + (tile_row) < M && (column) < quads_n) {                                 \
    const int place = (top + first + (tile_row)) * quads_n + (column);                   \
    const float4 v = activate((sum) + bias[column] PLUS_R(place), act, act_lo, act_hi);  \
    buffer_store4(y, place, mask_texel(v, column, N));                                   \
  }

__kernel void gemm_local64(BUFFER_IN(x), W_ARGS, __global const float4* restrict bias,
                         R_IN BUFFER_OUT(y), int M, int N, int K, int act, float act_lo,
                         float act_hi) {
  const int quads = (K + 3) / 4;
  const int quads_n = (N + 3) / 4;
  const int matrix = BATCH ? get_group_id(2) : 0, top = matrix * M;
  const int first = get_group_id(1) * TILE_ROWS;
  GROUP_TILE_OPEN(matrix * quads, 0, quads, (N + 15) / 16 * 16);
  const int at = (top + min(first + a_row, M - 1)) * quads;
  GROUP_TILE_RUN(quads)
  GROUP_TILE_FINISH(STORE)
}
