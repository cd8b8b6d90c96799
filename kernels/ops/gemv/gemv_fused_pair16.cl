// What kernels/reference/gemv_fused.cpp says of one row, two panels of 16 columns an item, for
// processors with wide SIMD and float arithmetic: neighbours, or where `gated` the two that make
// one panel of y. Quantised, each block of 32 rows is summed as it is stored: the sum of w x is
// scale times the sum of q x, plus offset times the sum of x. A number of the word's row i is
// masked and not shifted, so x is divided by its power of two.
#define ADD(sum, x, w) sum = madd((float16)(x), w, sum)
#define PARTS(id) float16 even##id = 0.0f, odd##id = 0.0f
#if W_BITS == 0
#define OPEN(id, panel)                 \
  int w_at##id = (panel)*W_ROWS(quads); \
  float16 sum##id = 0.0f
#define BLOCK
#define ROW const float4 u = value;
#define QUAD(id)                                       \
  {                                                    \
    ADD(even##id, u.s0, values_load(w, w_at##id));     \
    ADD(odd##id, u.s1, values_load(w, w_at##id + 1));  \
    ADD(even##id, u.s2, values_load(w, w_at##id + 2)); \
    ADD(odd##id, u.s3, values_load(w, w_at##id + 3));  \
    w_at##id += 4;                                     \
  }
#define CLOSE(id) sum##id += even##id + odd##id
#else
#define OPEN(id, panel)                 \
  int w_at##id = (panel)*W_ROWS(quads); \
  int s_at##id = (panel);               \
  float16 sum##id = 0.0f
#define BLOCK float4 of_block = 0.0f;
#define ROW                        \
  const float4 u = value * SHIFTS; \
  of_block += value;
#define CLOSE(id)                                                             \
  sum##id = madd(even##id + odd##id, values_load(scales, s_at##id), sum##id); \
  ADD(sum##id, sum_of4(of_block), values_load(scales, s_at##id + panels));    \
  s_at##id += 2 * panels
#if W_BITS == 8
#define SHIFTS (float4)(1.0f, 0x1p-8f, 1.0f, 0x1p-8f)
#define QUAD(id)                                                 \
  {                                                              \
    const int16 even = convert_int16(w[w_at##id]);               \
    const int16 odd = convert_int16(w[w_at##id + 1]);            \
    ADD(even##id, u.s0, convert_float16(even&(int16)(255)));     \
    ADD(odd##id, u.s1, convert_float16(even&(int16)(255 << 8))); \
    ADD(even##id, u.s2, convert_float16(odd&(int16)(255)));      \
    ADD(odd##id, u.s3, convert_float16(odd&(int16)(255 << 8)));  \
    w_at##id += 2;                                               \
  }
#else
#define SHIFTS (float4)(1.0f, 0x1p-4f, 0x1p-8f, 0x1p-12f)
#define QUAD(id)                                                 \
  {                                                              \
    const int16 word = convert_int16(w[w_at##id]);               \
    ADD(even##id, u.s0, convert_float16(word&(int16)(15)));      \
    ADD(odd##id, u.s1, convert_float16(word&(int16)(15 << 4)));  \
    ADD(even##id, u.s2, convert_float16(word&(int16)(15 << 8))); \
    ADD(odd##id, u.s3, convert_float16(word&(int16)(15 << 12))); \
    ++w_at##id;                                                  \
  }
#endif
#endif
#define STORE4(v, lanes, t)                            \
  if ((t) < quads_y) {                                 \
    float4 part = (v).lanes;                           \
    if (add) part += to_float4(buffer_load4(r, t));    \
    buffer_store4(y, t, mask_texel(part, t, columns)); \
  }
#define STORE(v, panel)           \
  STORE4(v, s0123, (panel)*4)     \
  STORE4(v, s4567, (panel)*4 + 1) \
  STORE4(v, s89ab, (panel)*4 + 2) \
  STORE4(v, scdef, (panel)*4 + 3)

ALONE __kernel void gemv_fused_pair16(BUFFER_IN(x), __global const float4* restrict scale, W_ARGS,
                                      __global const float16* restrict bias, BUFFER_IN(r), BUFFER_OUT(y),
                                      int N, int K, int norm, int gated, int add, int biased, int act,
                                      float act_lo, float act_hi, float epsilon) {
  const int pair = get_global_id(0);
  const int columns = gated ? N / 2 : N;
  const int panels = (N + 15) / 16;
  const int quads = (K + 3) / 4;
  const int quads_y = (columns + 3) / 4;
  const int one = gated ? pair : 2 * pair;
  const int other = gated ? pair + panels / 2 : min(one + 1, panels - 1);
  OPEN(0, one);
  OPEN(1, other);
  float4 square = 0.0f;
  for (int block = 0; block < quads; block += 8) {
    PARTS(0);
    PARTS(1);
    BLOCK
    const int end = min(block + 8, quads);
    for (int quad = block; quad < end; ++quad) {
      float4 value = buffer_load4(x, quad);
      if (norm) {
        square = madd(value, value, square);
        value *= scale[quad];
      }
      ROW QUAD(0) QUAD(1)
    }
    CLOSE(0);
    CLOSE(1);
  }
  const float factor = norm ? 1.0f / sqrt(sum_of4(square) / (float)K + epsilon) : 1.0f;
  float16 left = sum0 * factor, right = sum1 * factor;
  if (biased) left += bias[one], right += bias[other];
  const int last = gated ? one : other;
  for (int panel = one; panel <= last; ++panel) {
    float16 v = activate(panel == one ? left : right, act, act_lo, act_hi);
    if (gated) v *= right;
    STORE(v, panel)
  }
}
