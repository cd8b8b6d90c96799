// gemv_fused of weights in blocks of Q4_0, as mma_row.clh does it, by GROUPS groups, or the least multiple
// of GROUPS that holds all tiles. x is asked for first: what a compute unit loads comes in the order in
// which it was asked for, and x lies nearer.
#define ROW_NEXT here.left = 0;
#define ROW_MORE(column) buffer_load1(r, column)
#define ASK_X(block)                                                             \
  EACH_TEXEL {                                                                   \
    value[h] = 0.0f;                                                             \
    if (HAS_TEXEL(block)) value[h] = to_float4(buffer_load4(x, X_TEXEL(block))); \
  }
#define AWAIT_X(block)
#define GIVE(column, v) buffer_store1(y, column, v);
__attribute__((reqd_work_group_size(ITEMS, 1, 1)))
__kernel void gemv_fused_mma(BUFFER_IN(x), __global const float4* restrict scale, W_ARGS,
                             __global const float4* restrict bias, BUFFER_IN(r), BUFFER_OUT(y),
                             int N, int K, int norm, int gated, int add, int biased, int act,
                             float act_lo, float act_hi, float epsilon) {
  ROW_LOCAL
  ROW_REGISTERS
  ROW_SHARE((int)get_global_id(1), (int)get_num_groups(1))
  ROW_RUN
  const int tiles = own * (1 + gated);
  if (own == 0) return;
  ROW_ASK_X
  ROW_SEEK
  ROW_ASK(0, PAIRS)
  ROW_SUMS
  ROW_END
}
