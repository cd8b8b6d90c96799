// Layer norm, or with rms = 1 root-mean-square norm, over the C values of a row, one row an item,
// in float at every precision: mean, then the sum of squared deviations, then the result.
#define READ(quad) to_float4(load4(x, texel_at(first + (quad), line, W * quads)))

static inline float sum_of(float4 v) { return (v.s0 + v.s1) + (v.s2 + v.s3); }

ALONE __kernel void layer_norm_row(ACT_IN(x), __global const float4* restrict scale,
                                   __global const float4* restrict bias, ACT_OUT(y), int M, int W, int C,
                                   int rms, float epsilon) {
  const int row = get_global_id(0);
  if (row >= M) return;
  const int quads = (C + 3) / 4;
  const int first = row % W * quads;
  const int line = row / W;
  float mean = 0.0f;
  if (rms == 0) {
    float4 sum = 0.0f;
    for (int quad = 0; quad < quads; ++quad) sum += READ(quad);
    mean = sum_of(sum) / (float)C;
  }
  float4 squares = 0.0f;
  for (int quad = 0; quad < quads; ++quad) {
    const float4 d = mask_texel(READ(quad) - mean, quad, C);
    squares = madd(d, d, squares);
  }
  const float factor = 1.0f / sqrt(sum_of(squares) / (float)C + epsilon);
  for (int quad = 0; quad < quads; ++quad) {
    const float4 v = madd((READ(quad) - mean) * factor, scale[quad], bias[quad]);
    store4(y, texel_at(first + quad, line, W * quads), mask_texel(v, quad, C));
  }
}
