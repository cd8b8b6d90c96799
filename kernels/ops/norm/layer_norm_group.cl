// Layer norm, or with rms = 1 root-mean-square norm, over the C values of a row, in float at every
// precision; GROUP items a row.
#define READ(quad) to_float4(load4(x, texel_at(first + (quad), line, W * quads)))

__kernel void layer_norm_group(ACT_IN(x), __global const float4* restrict scale,
                               __global const float4* restrict bias, ACT_OUT(y), int W, int C,
                               int rms, float epsilon) {
  __local float partial[GROUP];
  const int item = get_local_id(0);
  const int row = get_global_id(1);
  const int quads = (C + 3) / 4;
  const int first = row % W * quads;
  const int line = row / W;
  float mean = 0.0f;
  if (rms == 0) {
    float4 sum = 0.0f;
    for (int quad = item; quad < quads; quad += GROUP) sum += READ(quad);
    partial[item] = sum_of4(sum);
    JOIN_GROUP(plus)
    mean = partial[0] / (float)C;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  float4 squares = 0.0f;
  for (int quad = item; quad < quads; quad += GROUP) {
    const float4 d = mask_texel(READ(quad) - mean, quad, C);
    squares = madd(d, d, squares);
  }
  partial[item] = sum_of4(squares);
  JOIN_GROUP(plus)
  const float factor = 1.0f / sqrt(partial[0] / (float)C + epsilon);
  for (int quad = item; quad < quads; quad += GROUP) {
    const float4 v = madd((READ(quad) - mean) * factor, scale[quad], bias[quad]);
    store4(y, texel_at(first + quad, line, W * quads), mask_texel(v, quad, C));
  }
}
