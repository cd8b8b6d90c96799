// y = x * scale / sqrt(mean(x * x) + epsilon) over the C values of a row, in float at every
// precision; GROUP items a row.
#define READ(quad) to_float4(load4(x, texel_at(first + (quad), line, W * quads)))

__kernel void rms_norm_group(ACT_IN(x), __global const float4* restrict scale, ACT_OUT(y), int W,
                             int C, float epsilon) {
  __local float partial[GROUP];
  const int item = get_local_id(0);
  const int row = get_global_id(1);
  const int quads = (C + 3) / 4;
  const int first = row % W * quads;
  const int line = row / W;
  float4 squares = 0.0f;
  for (int quad = item; quad < quads; quad += GROUP) {
    const float4 v = mask_texel(READ(quad), quad, C);
    squares = madd(v, v, squares);
  }
  partial[item] = sum_of4(squares);
  JOIN_GROUP(plus)
  const float factor = 1.0f / sqrt(partial[0] / (float)C + epsilon);
  for (int quad = item; quad < quads; quad += GROUP) {
    const float4 v = READ(quad) * factor * scale[quad];
    store4(y, texel_at(first + quad, line, W * quads), mask_texel(v, quad, C));
  }
}
