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
// which it was asked for, and x lies nearer. A matrix unit has room for two blocks at once: its first 8
// rows are 8 columns of weights from the one, the others the same columns from the other, and 4 of x's
// columns are the digits of each: a lane has one pair of sums that means something.
#define WARPS (ITEMS / 32)
#define PAIRS (BLOCKS / 2)
#define TEXELS (BLOCKS / 4)  // of x that a lane has in a turn
// 1.5 * 2^23 has a whole number from -2^22 to 2^22 that is added to it in its lowest bits.
#define WHOLE_BITS 0x4B400000
#define WHOLE 12582912.0f

// The lower and the upper half of each byte.
#define LOW_NUMBERS(word) ((word)&0x0F0F0F0F)
#define HIGH_NUMBERS(word) ((word) >> 4 & 0x0F0F0F0F)
// Of two columns the first's, or the second's, four rows of quad `turn` of a block and of quad turn + 4.
#define LOWER(quad, next) as_uint((ushort2)(as_ushort2(quad).x, as_ushort2(next).x))
#define UPPER(quad, next) as_uint((ushort2)(as_ushort2(quad).y, as_ushort2(next).y))
// Their even rows, then the odd ones.
#define ROWS(one, other)                                                     \
  (uint4)(LOW_NUMBERS(one), LOW_NUMBERS(other), HIGH_NUMBERS(one), HIGH_NUMBERS(other))
// What the sums of a digit and of the next one make, as a float times `unit`: the next one's began at
// WHOLE_BITS.
#define PAIR(first, next) (as_float(((first) << 7) + (next)) * unit - whole)
// Four digits of 7 bits, the first of which has the sign, as bytes, the last digit first.
#define UPPER_HALF(v) ((v) + 3 * ((v) & ~0x3FFF))
#define UPPER_DIGITS(v) ((v) + ((v)&0xFF80FF80))
#define ADD(which, word, by, to)                                                          \
  {                                                                                       \
    const uint one = which(quads[j].word, nexts[j].word);                                 \
    const uint other = which(other_quads[j].word, other_nexts[j].word);                   \
    int4 c;                                                                               \
    mma_s8(c, ROWS(one, other), of_x, from)                                               \
    to = madd(PAIR(second ? c.z : c.x, second ? c.w : c.y), by, to);                      \
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
// Where the lane's four columns of a tile begin from block `from` on, and how many blocks are left of
// the run.
#define SEEK(tile, from)                                                                  \
  {                                                                                       \
    const int half_row = (tile) >= own;                                                   \
    const int top = (first + (tile)-half_row * own) * 8 + half_row * (n / 4);             \
    const int four = min(top + row, (N + 15) / 16 * 4 - 1);                               \
    const int block_of = four / 8 * blocks + (from);                                      \
    numbers = (__global const uint2*)w + (block_of * 8 + turn) * 8 + four % 8;            \
    scales_at = (__global const uint2*)scales + (block_of + second) * 8 + four % 8;       \
    left = end - (from);                                                                  \
  }
// Where there is no such block x has zeros, and what the numbers are does not matter.
#define LOAD(j)                                                  \
  {                                                              \
    scales_of[j] = (uint2)(0);                                   \
    if (2 * (j) < left) {                                        \
      quads[j] = stream_load2(numbers + 128 * (j));              \
      nexts[j] = stream_load2(numbers + 128 * (j) + 32);         \
    }                                                            \
    if (2 * (j) + 1 < left) {                                    \
      other_quads[j] = stream_load2(numbers + 128 * (j) + 64);   \
      other_nexts[j] = stream_load2(numbers + 128 * (j) + 96);   \
    }                                                            \
    if (2 * (j) + second < left) scales_of[j] = stream_load2(scales_at + 16 * (j)); \
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
  const int second = turn / 2, odd = turn % 2;
  const int blocks = K / 32, run = (blocks + 2 * WARPS - 1) / (2 * WARPS) * 2;
  const int n = N / (1 + gated), all = (n + 31) / 32;
  const int groups = get_num_groups(1), per = (all + groups - 1) / groups;
  const int first = get_global_id(1) * per;
  const int own = min(per, all - first), tiles = own * (1 + gated);
  if (own <= 0) return;
  __local uint2* const digits = digits_of + warp * BLOCKS * 16;
  __local float* const units = units_of + warp * BLOCKS;
  uint2 quads[PAIRS], nexts[PAIRS], other_quads[PAIRS], other_nexts[PAIRS], scales_of[PAIRS];
  float4 value[TEXELS], times[TEXELS];
  EACH_TEXEL times[h] = 1.0f;
  EACH_PAIR quads[j] = nexts[j] = other_quads[j] = other_nexts[j] = (uint2)(0);
  __global const uint2 *numbers, *scales_at;
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
      const uint4 whole = as_uint4(convert_int4_rte(value[h] * as_float((280 - power) << 23)));
      __local ushort* const to =
          (__local ushort*)digits + (h * 4 + lane / 8) * 64 + lane % 4 * 4 + lane % 8 / 4;
      const uint4 halves = UPPER_HALF(whole), bytes = UPPER_DIGITS(halves);
      to[0] = byte_pair(bytes.x, bytes.z, 3);
      to[2] = byte_pair(bytes.y, bytes.w, 3);
      to[16] = byte_pair(bytes.x, bytes.z, 2);
      to[18] = byte_pair(bytes.y, bytes.w, 2);
      to[32] = byte_pair(bytes.x, bytes.z, 1);
      to[34] = byte_pair(bytes.y, bytes.w, 1);
      to[48] = byte_pair(bytes.x, bytes.z, 0);
      to[50] = byte_pair(bytes.y, bytes.w, 0);
      // What a number of the first two digits is worth, over 2^12: WHOLE of them is finite.
      if (lane % 8 == 0) {
        units[h * 4 + lane / 8] = power == 255 ? NAN : as_float((power - 24) << 23);
      }
    }
    warp_fence();
    LOAD_X(block + BLOCKS)
    for (int tile = 0; tile < tiles; ++tile) {
      float4 sum = 0.0f;
      if (tile + 1 < tiles) {
        SEEK(tile + 1, block)
      } else {
        SEEK(0, block + BLOCKS)
      }
      EACH_PAIR {
        const uint2 of_x = digits[j * 32 + lane];
        const float unit = units[j * 2 + second], whole = WHOLE * unit;
        const float4 by = vload_half4(0, (const __private half*)&scales_of[j]);
        // A weight is its number less 8.
        int4 from = (int4)(0, WHOLE_BITS, 0, WHOLE_BITS);
        mma_s8(from, (uint4)(0xF8F8F8F8), of_x, from)
        ADD(LOWER, x, by.x, sum.x)
        ADD(UPPER, x, by.y, sum.y)
        ADD(LOWER, y, by.z, sum.z)
        ADD(UPPER, y, by.w, sum.w)
        LOAD(j)
      }
      // An odd lane has the last two digits, a lane whose turn is 2 or 3 the second blocks. Each keeps
      // one column of its row's four.
      sum *= odd ? 0x1p-2f : 0x1p12f;
      float2 other;
      lane_xor(other.x, second ? sum.x : sum.z, 2)
      lane_xor(other.y, second ? sum.y : sum.w, 2)
      const float2 two = (second ? sum.zw : sum.xy) + other;
      lane_xor(other.x, odd ? two.x : two.y, 1)
      const float one = (odd ? two.y : two.x) + other.x;
      __local float* const part = (__local float*)(parts + (tile * WARPS + warp) * 8) + lane;
      *part = i > 0 ? *part + one : one;
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
