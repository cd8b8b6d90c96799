// Squeeze and excite of one image (kernels/reference/squeeze_excite.cpp), in float at every
// precision; a group of GROUP items an image. A column is 4 channels, of the image or of the hidden
// layer: GROUP / columns items share one, as slices of the pixels or of the rows of a matrix.

// What the slices of this item's column sum up to; all items of the group have to come here.
static inline float4 joined(__local float4* sums, float4 sum, int item, int columns) {
  const int slice = item / columns;
  barrier(CLK_LOCAL_MEM_FENCE);
  sums[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int slices = GROUP / columns; slices > 1;) {
    const int rest = (slices + 1) / 2;
    if (slice + rest < slices) sums[item] += sums[item + rest * columns];
    barrier(CLK_LOCAL_MEM_FENCE);
    slices = rest;
  }
  return sums[item % columns];
}

// bias + x[rows] * w[rows, columns] of this item's column. The rows of x are of those before.
static inline float4 layer(__local float4* sums, __local const float4* x, __global const float4* w,
                           __global const float4* bias, int item, int rows, int columns) {
  __local const float* row_of = (__local const float*)x;
  const int slices = GROUP / columns;
  const int slice = item / columns;
  const int column = item % columns;
  float4 sum = 0.0f;
  if (slice < slices) {
    for (int row = slice; row < rows; row += slices)
      sum = madd((float4)(row_of[row]), w[row * columns + column], sum);
  }
  return joined(sums, sum, item, columns) + bias[column];
}

__kernel void squeeze_excite_group(BUFFER_IN(x), __global const float4* restrict squeeze_w,
                                   __global const float4* restrict squeeze_bias,
                                   __global const float4* restrict excite_w,
                                   __global const float4* restrict excite_bias, BUFFER_OUT(y), int H,
                                   int W, int C, int M, int squeeze_act, float squeeze_act_lo,
                                   float squeeze_act_hi, int gate_act, float gate_act_lo, float gate_act_hi,
                                   int act, float act_lo, float act_hi) {
  __local float4 sums[GROUP], means[GROUP], hidden[GROUP];
  const int item = get_local_id(0);
  const int columns = (C + 3) / 4;
  const int middle = (M + 3) / 4;
  const int pixels = H * W;
  const int slices = GROUP / columns;
  const int slice = item / columns;
  const int column = item % columns;
  const int first = get_global_id(1) * pixels * columns + column;
  const int begin = slice < slices ? slice : pixels;
  float4 sum = 0.0f;
  int pixel = begin;
  // Four pixels are on their way at a time.
  for (; pixel < pixels - 3 * slices; pixel += 4 * slices) {
    float4 values[4];
    _Pragma("unroll") for (int i = 0; i < 4; ++i)
        values[i] = to_float4(buffer_load4(x, first + (pixel + i * slices) * columns));
    sum += (values[0] + values[1]) + (values[2] + values[3]);
  }
  for (; pixel < pixels; pixel += slices) sum += to_float4(buffer_load4(x, first + pixel * columns));
  sum = joined(sums, sum, item, columns);
  if (item < columns) means[item] = sum / (float)pixels;
  barrier(CLK_LOCAL_MEM_FENCE);
  const float4 squeezed =
      layer(sums, means, squeeze_w, squeeze_bias, item, C, middle);
  if (item < middle) hidden[item] = activate(squeezed, squeeze_act, squeeze_act_lo, squeeze_act_hi);
  barrier(CLK_LOCAL_MEM_FENCE);
  const float4 excited =
      layer(sums, hidden, excite_w, excite_bias, item, M, columns);
  const float4 gate = activate(excited, gate_act, gate_act_lo, gate_act_hi);
  for (pixel = begin; pixel < pixels; pixel += slices) {
    const int at = first + pixel * columns;
    const float4 v = activate(to_float4(buffer_load4(x, at)) * gate, act, act_lo, act_hi);
    buffer_store4(y, at, mask_texel(v, column, C));
  }
}
