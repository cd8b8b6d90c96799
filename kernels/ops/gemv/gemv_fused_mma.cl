// gemv_fused of weights in blocks of Q4_0, by whole numbers. In units of its own, 2^-26 of the power of
// two at or below its largest value, the part of x that meets a block is whole numbers of four digits of
// 7 bits, the first of them with the sign; a matrix unit makes their products with the weights' numbers.
// Those and their sums are exact: all that is lost of a value of x is half a unit, which is less than its
// product in floats loses where it is at least an eighth of the largest. Where x is not finite, NaN comes
// out.
//
// The tiles of 32 columns are shared evenly among GROUPS groups, or the least multiple of GROUPS that
// holds them all: a group has at most TILES tiles, or TILES / 2 of each half of a gated call. Its warps
// share the blocks of k, BLOCKS of its own run of them a turn; what is read for the next tile, or the next
// turn, is on its way meanwhile. x is asked for first: what a compute unit loads comes in the order in
// which it was asked for, and x lies nearer. A matrix unit has room for two blocks at once: rows 0 to 3 of
// it, and of its upper half, are of the first and meet the first four of x's columns, the others are of
// the second; so a lane loads 16 bytes at a time, and half of the sums mean nothing.
#define WARPS (ITEMS / 32)
#define PAIRS (BLOCKS / 2)
#define TEXELS (BLOCKS / 4)  // of x that a lane has in a turn
// 1.5 * 2^23 has a whole number from -2^22 to 2^22 that is added to it in its lowest bits.
#define WHOLE_BITS 0x4B400000
#define WHOLE 12582912.0f

// The lower and the upper half of each byte, less 8, times 16.
#define LOW_NUMBERS(word) (((word) << 4 & 0xF0F0F0F0) ^ 0x80808080)
#define HIGH_NUMBERS(word) (((word) & 0xF0F0F0F0) ^ 0x80808080)
// Two columns' four rows of quad `turn` of a block, and those of quad turn + 4: the even ones, then
// the odd ones.
#define LOWER(quad, next) ((quad)&0xFFFF | (next) << 16)
#define UPPER(quad, next) ((quad) >> 16 | (next)&0xFFFF0000)
#define ROWS(quad, next)                                                       \
  (uint4)(LOW_NUMBERS(LOWER(quad, next)), LOW_NUMBERS(UPPER(quad, next)),      \
          HIGH_NUMBERS(LOWER(quad, next)), HIGH_NUMBERS(UPPER(quad, next)))
// What two sums of 16 times the numbers make, of one digit, which began at WHOLE_BITS / 8, and of the
// next.
#define PAIR(first, next) (as_float((first)*8 + ((next) >> 4)) - WHOLE)
#define DIGIT(d, v) ((v) >> (21 - 7 * (d)) & ((d) == 0 ? 255 : 127))
#define DIGITS(d, first, next) (ushort)(DIGIT(d, first) | DIGIT(d, next) << 8)
#define ADD(quad, next, by, next_by, to, next_to)              \
  {                                                            \
    int4 c;                                                    \
    mma_s8(c, ROWS(quad, next), of_x, WHOLE_BITS / 8)          \
    to = madd(PAIR(c.x, c.y), by, to);                         \
    next_to = madd(PAIR(c.z, c.w), next_by, next_to);          \
  }
#define EACH_TEXEL _Pragma("unroll") for (int h = 0; h < TEXELS; ++h)
#define LOAD_X(block)                                  \
  EACH_TEXEL {                                         \
    const int texel = (block)*8 + h * 32 + lane;       \
    value[h] = 0.0f;                                   \
    if (texel < end * 8) {                             \
      value[h] = to_float4(buffer_load4(x, texel));    \
      if (norm) times[h] = scale[texel];               \
    }                                                  \
  }
// Where the lane's eight columns of a tile begin from block `from` on, and how many blocks are left of
// the run.
#define SEEK(tile, from)                                                                  \
  {                                                                                       \
    const int half_row = (tile) >= own;                                                   \
    const int top = (first + (tile)-half_row * own) * 4 + half_row * (n / 8);             \
    const int eight = min(top + row % 4, (N + 15) / 16 * 2 - 1);                          \
    const int block_of = eight / 4 * blocks + (from) + second;                            \
    numbers = (__global const uint4*)w + (block_of * 8 + turn) * 4 + eight % 4;           \
    scales_at = (__global const uint4*)scales + block_of * 4 + eight % 4;                 \
    left = end - (from)-second;                                                           \
  }
// Where there is no such block x has zeros, and what the numbers are does not matter.
#define LOAD(j)                                          \
  {                                                      \
    scales_of[j] = (uint4)(0);                           \
    if (2 * (j) < left) {                                \
      quads[j] = stream_load4(numbers + 64 * (j));       \
      nexts[j] = stream_load4(numbers + 64 * (j) + 16);  \
      scales_of[j] = stream_load4(scales_at + 8 * (j));  \
    }                                                    \
  }
#define EACH_PAIR _Pragma("unroll") for (int j = 0; j < PAIRS; ++j)

__attribute__((reqd_work_group_size(ITEMS, 1, 1)))
__kernel void gemv_fused_mma(BUFFER_IN(x), __global const float4* restrict scale, W_ARGS,
                             __global const float4* restrict bias, BUFFER_IN(r), BUFFER_OUT(y),
                             int N, int K, int norm, int gated, int add, int biased, int act,
                             float act_lo, float act_hi, float epsilon) {
  // Of each warp's turn, [block][digit][turn of a lane]: of rows 0 and 2 of its two quads, then of 1
  // and 3.
  __local uint2 digits_of[WARPS * BLOCKS * 16];
  __local float units_of[WARPS * BLOCKS];
  __local float4 parts[TILES * WARPS * 8];
  __local float squares[WARPS];
  WARP_LOCAL
  const int item = get_local_id(0);
  const int lane = item % 32, warp = item / 32, row = lane / 4, turn = lane % 4;
  const int second = row / 4, odd = turn % 2;
  const int blocks = K / 32, run = (blocks + 2 * WARPS - 1) / (2 * WARPS) * 2;
  const int n = N / (1 + gated), all = (n + 31) / 32;
  const int groups = get_num_groups(1), per = (all + groups - 1) / groups;
  const int first = get_global_id(1) * per;
  const int own = min(per, all - first), tiles = own * (1 + gated);
  if (own <= 0) return;
  __local uint2* const digits = digits_of + warp * BLOCKS * 16;
  __local float* const units = units_of + warp * BLOCKS;
  uint4 quads[PAIRS], nexts[PAIRS], scales_of[PAIRS];
  float4 value[TEXELS], times[TEXELS];
  EACH_TEXEL times[h] = 1.0f;
  EACH_PAIR quads[j] = nexts[j] = (uint4)(0);
  __global const uint4 *numbers, *scales_at;
  int block = warp * run, left;
  const int end = min(block + run, blocks);
  LOAD_X(block)
  SEEK(0, block)
  EACH_PAIR LOAD(j)
  float square = 0.0f;
  for (int i = 0; i < run; i += BLOCKS, block += BLOCKS) {
    warp_fence();
    EACH_TEXEL {
      square += sum_of4(value[h] * value[h]);
      value[h] *= times[h];
      const uint4 sizes = as_uint4(value[h]) & 0x7FFFFFFF;
      float top = as_float(max(max(sizes.x, sizes.y), max(sizes.z, sizes.w)));
      _Pragma("unroll") for (int mask = 1; mask < 8; mask *= 2) {
        float other;
        lane_xor(other, top, mask)
        // As whole numbers, where infinity is above all floats, and NaN above that.
        top = as_float(max(as_uint(top), as_uint(other)));
      }
      const uint power = max(as_uint(top) >> 23, 30u);
      const int4 whole = convert_int4_rte(value[h] * as_float((280 - power) << 23));
      __local ushort* const to =
          (__local ushort*)digits + (h * 4 + lane / 8) * 64 + lane % 4 * 4 + lane % 8 / 4;
      _Pragma("unroll") for (int d = 0; d < 4; ++d) {
        to[d * 16] = DIGITS(d, whole.x, whole.z);
        to[d * 16 + 2] = DIGITS(d, whole.y, whole.w);
      }
      // What a number of the first two digits is worth.
      if (lane % 8 == 0) {
        units[h * 4 + lane / 8] = power == 255 ? NAN : as_float((power - 12) << 23);
      }
    }
    warp_fence();
    LOAD_X(block + BLOCKS)
    for (int tile = 0; tile < tiles; ++tile) {
      float4 low = 0.0f, high = 0.0f;
      if (tile + 1 < tiles) {
        SEEK(tile + 1, block)
      } else {
        SEEK(0, block + BLOCKS)
      }
      EACH_PAIR {
        const uint2 of_x = digits[j * 32 + lane];
        const float unit = units[j * 2 + second];
        const float4 by = vload_half4(0, (const __private half*)&scales_of[j]) * unit;
        const float4 high_by = vload_half4(1, (const __private half*)&scales_of[j]) * unit;
        ADD(quads[j].x, nexts[j].x, by.x, by.y, low.x, low.y)
        ADD(quads[j].y, nexts[j].y, by.z, by.w, low.z, low.w)
        ADD(quads[j].z, nexts[j].z, high_by.x, high_by.y, high.x, high.y)
        ADD(quads[j].w, nexts[j].w, high_by.z, high_by.w, high.z, high.w)
        LOAD(j)
      }
      // An odd lane has the last two digits. Of eight columns each of the four lanes that have sums of
      // them keeps two; lanes of a first block have theirs where turn is 0 or 1.
      if (odd) low *= 0x1p-14f, high *= 0x1p-14f;
      const float4 given = odd ? low : high;
      float4 other;
      lane_xor(other.x, given.x, 1)
      lane_xor(other.y, given.y, 1)
      lane_xor(other.z, given.z, 1)
      lane_xor(other.w, given.w, 1)
      const float4 four = (odd ? high : low) + other;
      lane_xor(other.x, second ? four.x : four.z, 18)
      lane_xor(other.y, second ? four.y : four.w, 18)
      const float2 two = (second ? four.zw : four.xy) + other.xy;
      if (turn / 2 == second) {
        __local float2* const part =
            (__local float2*)(parts + (tile * WARPS + warp) * 8) + row % 4 * 4 + odd * 2 + second;
        *part = i > 0 ? *part + two : two;
      }
    }
  }
  const int texel = first * 8 + item, mine = item < own * 8 && texel < (n + 3) / 4;
  // On its way while the warps wait for each other.
  float4 more = 0.0f;
  if (add && mine) more = to_float4(buffer_load4(r, texel));
  if (norm) {
    _Pragma("unroll") for (int mask = 1; mask < 32; mask *= 2) {
      float other;
      lane_xor(other, square, mask)
      square += other;
    }
    if (lane == 0) squares[warp] = square;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!mine) return;
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
  if (add) v += more;
  buffer_store4(y, texel, mask_texel(v, texel, n));
}
