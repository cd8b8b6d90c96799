// Constant, edge, reflect or wrap padding (mode 0 to 3), 4 channels of one output pixel an item;
// whole texels where the channels of input and output lie alike, else lane by lane.

// The input index along an axis of n elements, -1 for the constant.
static inline int source(int mode, int at, int n) {
  if (at >= 0 && at < n) return at;
  if (mode == 0) return -1;
  if (mode == 1) return clamp(at, 0, n - 1);
  const int period = mode == 3 ? n : max(2 * (n - 1), 1);
  const int folded = (at % period + period) % period;
  return mode == 3 ? folded : min(folded, period - folded);
}

#define LANE(v, i)                                                                          \
  float v = value;                                                                          \
  {                                                                                         \
    const int from = source(mode, first + i, C);                                            \
    if (from >= 0) {                                                                        \
      const float4 texel = to_float4(load4(x, texel_at(left + from / 4, line, W * quads))); \
      v = lane_of(texel, from % 4);                                                         \
    }                                                                                       \
  }

__kernel void pad_texel(ACT_IN(x), ACT_OUT(y), int N, int H, int W, int C, int P_N, int P_H,
                        int P_W, int P_C, int ON, int OH, int OW, int OC, int mode, float value) {
  const int quads = (C + 3) / 4;
  const int quads_o = (OC + 3) / 4;
  const int column = get_global_id(0);
  const int out = get_global_id(1);
  if (column >= OW * quads_o || out >= ON * OH) return;
  const int image = source(mode, out / OH - P_N, N);
  const int iy = source(mode, out % OH - P_H, H);
  const int ix = source(mode, column / quads_o - P_W, W);
  const int quad = column % quads_o;
  const int first = 4 * quad - P_C;
  const int left = ix * quads;
  const int line = image * H + iy;
  float4 v = value;
  if (image >= 0 && iy >= 0 && ix >= 0) {
    if (first >= 0 && first % 4 == 0 && first + min(4, OC - 4 * quad) <= C) {
      v = to_float4(load4(x, texel_at(left + first / 4, line, W * quads)));
    } else {
      LANE(a, 0);
      LANE(b, 1);
      LANE(c, 2);
      LANE(d, 3);
      v = (float4)(a, b, c, d);
    }
  }
  store4(y, texel_at(column, out, OW * quads_o), mask_texel(v, quad, OC));
}
