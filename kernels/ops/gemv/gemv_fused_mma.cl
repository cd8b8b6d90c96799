// gemv_fused of weights in blocks of Q4_0, by whole numbers. In units of its own, 2^-26 of the power of
// two at or below its largest value, the part of x that meets a block is whole numbers of four digits of
// 7 bits, the first of them with the sign; a matrix unit makes their products with the weights' numbers.
// Those and their sums are exact: all that is lost of a value of x is half a unit, which is less than its
// product in floats loses where it is at least an eighth of the largest. Where x is not finite, NaN comes
// out.
//
// A group has tiles of 32 columns, of a gated call as many of both halves, TILES in all at most. Its
// warps take turns at four blocks of k, whose 32 texels of x their lanes have one each; what is read for
// the next tile, or the next turn, is on its way meanwhile.
#define WARPS (ITEMS / 32)
#define BLOCKS 4
// Blocks of a turn of all warps.
#define TURN (WARPS * BLOCKS)
// 1.5 * 2^23 has a whole number from -2^22 to 2^22 that is added to it in its lowest bits.
#define WHOLE_BITS 0x4B400000
#define WHOLE 12582912.0f

// The lower and the upper half of each byte, less 8, times 16.
#define LOW_NUMBERS(word) (((word) << 4 & 0xF0F0F0F0) ^ 0x80808080)
#define HIGH_NUMBERS(word) (((word) & 0xF0F0F0F0) ^ 0x80808080)
// Two columns' rows 8 * turn to 8 * turn + 7 of a block: the even ones, then the odd ones.
#define LOWER(even, odd) ((even)&0xFFFF | (odd) << 16)
#define UPPER(even, odd) ((even) >> 16 | (odd)&0xFFFF0000)
#define ROWS(even, odd)                                                        \
  (uint4)(LOW_NUMBERS(LOWER(even, odd)), LOW_NUMBERS(UPPER(even, odd)),        \
          HIGH_NUMBERS(LOWER(even, odd)), HIGH_NUMBERS(UPPER(even, odd)))
// What two sums of 16 times the numbers make, of one digit and of the next.
#define PAIR(first, next) (as_float(WHOLE_BITS + (first)*8 + ((next) >> 4)) - WHOLE)
#define DIGIT(d, v) ((v) >> (21 - 7 * (d)) & ((d) == 0 ? 255 : 127))
#define DIGITS(d, first, next) (ushort)(DIGIT(d, first) | DIGIT(d, next) << 8)

#define LOAD_X(block)                              \
  {                                                \
    const int texel = (block)*8 + lane;            \
    value = 0.0f;                                  \
    if (texel < blocks * 8) {                      \
      value = to_float4(buffer_load4(x, texel));   \
      if (norm) times = scale[texel];              \
    }                                              \
  }
// Where a tile's numbers and scales from `block` on begin, and how many blocks are left of k.
#define SEEK(tile, block)                                                                     \
  {                                                                                           \
    const int half_row = (tile) >= own;                                                       \
    const int tile_four = (first + (tile)-half_row * own) * 8 + half_row * (n / 4);           \
    const int four = min(tile_four + row, fours - 1);                                         \
    w_at = w_start(four, K / 4) + ((block)*8 + turn * 2) * pitch;                             \
    scales_at = (block)*fours + four;                                                         \
    left = blocks - (block);                                                                  \
  }
// The same of the tile behind `tile`, or of the first one in the next turn.
#define SEEK_NEXT(tile)           \
  if ((tile) + 1 < tiles) {       \
    SEEK((tile) + 1, block)       \
  } else {                        \
    SEEK(0, block + TURN)         \
  }
#define LOAD(j)                                                  \
  {                                                              \
    even[j] = odd[j] = scales_of[j] = (uint2)(0);                \
    if ((j) < left) {                                            \
      even[j] = stream_load2(w, w_at + (j)*8 * pitch);           \
      odd[j] = stream_load2(w, w_at + ((j)*8 + 1) * pitch);      \
      scales_of[j] = stream_load2(scales, scales_at + (j)*fours); \
    }                                                            \
  }
#define EACH_BLOCK _Pragma("unroll") for (int j = 0; j < BLOCKS; ++j)

__attribute__((reqd_work_group_size(ITEMS, 1, 1)))
__kernel void gemv_fused_mma(BUFFER_IN(x), __global const float4* restrict scale, W_ARGS,
                             __global const float4* restrict bias, BUFFER_IN(r), BUFFER_OUT(y),
                             int N, int K, int norm, int gated, int add, int biased, int act,
                             float act_lo, float act_hi, float epsilon) {
  // Of each warp's turn, [block][digit][turn of a lane]: of rows 0, 2, 4, 6, then of 1, 3, 5, 7.
  __local uint2 digits_of[TURN * 16];
  __local float units_of[TURN];
  __local float4 parts[TILES * WARPS * 8];
  __local float squares[WARPS];
  WARP_LOCAL
  const int item = get_local_id(0);
  const int lane = item % 32, warp = item / 32, row = lane / 4, turn = lane % 4;
  const int blocks = K / 32, fours = (N + 15) / 16 * 4, pitch = w_pitch(fours * 4);
  const int n = N / (1 + gated), all = (n + 31) / 32;
  const int per = max(1, min((all + GROUPS - 1) / GROUPS, TILES / (1 + gated)));
  const int first = get_global_id(1) * per;
  const int own = min(per, all - first), tiles = own * (1 + gated);
  __local uint2* const digits = digits_of + warp * BLOCKS * 16;
  __local float* const units = units_of + warp * BLOCKS;
  uint2 even[BLOCKS], odd[BLOCKS], scales_of[BLOCKS];
  float4 value, times = 1.0f;
  int w_at, scales_at, left;
  int block = warp * BLOCKS;
  LOAD_X(block)
  SEEK(0, block)
  EACH_BLOCK LOAD(j)
  // What comes after those, as x makes them wait.
  SEEK_NEXT(0)
  if (row == 0) {
    EACH_BLOCK {
      if (j < left) stream_soon(w, w_at + j * 8 * pitch)
    }
  }
  float square = 0.0f;
  const int turns = (blocks + TURN - 1) / TURN;
  for (int i = 0; i < turns; ++i, block += TURN) {
    square += sum_of4(value * value);
    value *= times;
    const uint4 sizes = as_uint4(value) & 0x7FFFFFFF;
    float top = as_float(max(max(sizes.x, sizes.y), max(sizes.z, sizes.w)));
    _Pragma("unroll") for (int mask = 1; mask < 8; mask *= 2) {
      float other;
      lane_xor(other, top, mask)
      // As whole numbers, where infinity is above all floats, and NaN above that.
      top = as_float(max(as_uint(top), as_uint(other)));
    }
    const uint power = max(as_uint(top) >> 23, 30u);
    const int4 whole = convert_int4_rte(value * as_float((280 - power) << 23));
    warp_fence();
    __local ushort* const to =
        (__local ushort*)digits + lane / 8 * 64 + lane % 8 / 2 * 4 + lane % 2;
    _Pragma("unroll") for (int d = 0; d < 4; ++d) {
      to[d * 16] = DIGITS(d, whole.x, whole.z);
      to[d * 16 + 2] = DIGITS(d, whole.y, whole.w);
    }
    // What a number of the first two digits is worth.
    if (lane % 8 == 0) units[lane / 8] = power == 255 ? NAN : as_float((power - 12) << 23);
    warp_fence();
    LOAD_X(block + TURN)
    for (int tile = 0; tile < tiles; ++tile) {
      float4 sum = 0.0f;
      SEEK_NEXT(tile)
      EACH_BLOCK {
        const uint2 of_x = row < 4 ? digits[j * 16 + lane] : (uint2)(0);
        const float4 by = vload_half4(0, (const __private half*)&scales_of[j]) * units[j];
        int4 c;
        mma_s8(c, ROWS(even[j].x, odd[j].x), of_x)
        sum.x = madd(PAIR(c.x, c.y), by.x, sum.x);
        sum.y = madd(PAIR(c.z, c.w), by.y, sum.y);
        mma_s8(c, ROWS(even[j].y, odd[j].y), of_x)
        sum.z = madd(PAIR(c.x, c.y), by.z, sum.z);
        sum.w = madd(PAIR(c.z, c.w), by.w, sum.w);
        LOAD(j)
      }
      // Lane 0 of four has the first two digits, lane 1 the others; the columns of the matrix unit
      // that lanes 2 and 3 have are empty.
      if (turn > 0) sum *= 0x1p-14f;
      float4 other;
      lane_xor(other.x, sum.x, 1)
      lane_xor(other.y, sum.y, 1)
      lane_xor(other.z, sum.z, 1)
      lane_xor(other.w, sum.w, 1)
      if (turn == 0) {
        __local float4* const part = parts + (tile * WARPS + warp) * 8 + row;
        sum += other;
        *part = i > 0 ? *part + sum : sum;
      }
    }
  }
  _Pragma("unroll") for (int mask = 1; mask < 32; mask *= 2) {
    float other;
    lane_xor(other, square, mask)
    square += other;
  }
  if (lane == 0) squares[warp] = square;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int texel = first * 8 + item;
  if (item >= own * 8 || texel >= (n + 3) / 4) return;
  float4 v = 0.0f, up = 0.0f;
  for (int i = 0; i < WARPS; ++i) {
    v += parts[(item / 8 * WARPS + i) * 8 + item % 8];
    if (gated) up += parts[((own + item / 8) * WARPS + i) * 8 + item % 8];
  }
  if (norm) {
    float total = 0.0f;
    for (int i = 0; i < WARPS; ++i) total += squares[i];
    const float factor = 1.0f / sqrt(total / (float)K + epsilon);
    v *= factor;
    up *= factor;
  }
  if (biased) {
    v += bias[texel];
    if (gated) up += bias[n / 4 + texel];
  }
  v = activate(v, act, act_lo, act_hi);
  if (gated) v *= up;
  if (add) v += to_float4(buffer_load4(r, texel));
  buffer_store4(y, texel, mask_texel(v, texel, n));
}
