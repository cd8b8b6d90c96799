// The largest (kind 0) or the mean (kind 1) of samples in each cell of each region of an image: 4
// channels of one cell an item. Pairs of numbers are across and down. Padding lanes of x are zero,
// and so are those that are made of them.

// The samples of a cell: `ratio`, or as many as elements are in it.
static inline float2 samples_in_cells(float2 size, float2 cells, int ratio) {
  if (ratio > 0) return (float)ratio;
  // Of a whole quotient OpenCL's division may be off by a few roundoffs.
  const float2 near = rint(size / cells);
  const float2 count = near * cells < size ? near + 1.0f : near;
  return clamp(count, (float2)(0.0f), (float2)(4096.0f));
}

// Of `count` numbers that are `step` apart from `first` on, those before and behind which none lies
// from -1 to `extent`.
static inline int2 inside_of(float first, float step, float count, int extent) {
  if (!(step > 0.0f)) return (int2)(0, (int)count);
  const float begin = (-1.0f - first) / step, end = ((float)extent - first) / step + 2.0f;
  return (int2)((int)fmin(fmax(begin, 0.0f), count), (int)fmin(fmax(end, 0.0f), count));
}

#define READ(iy, ix) to_float4(load4(x, texel_at((ix)*quads + quad, image + (iy), W * quads)))
#define IS_INSIDE(at, extent) ((at) >= -1.0f && (at) <= (float)(extent))

ALONE __kernel void roi_align_texel(ACT_IN(x), __global const float4* restrict rois,
                                    __global const int* restrict batch, ACT_OUT(y), int N, int H, int W,
                                    int C, int R, int OH, int OW, int kind, int ratio, int half_pixel,
                                    float scale) {
  const int quads = (C + 3) / 4;
  const int column = get_global_id(0);
  const int out = get_global_id(1);
  if (column >= OW * quads || out >= R * OH) return;
  const int quad = column % quads;
  const int region = out / OH;
  const int given = batch[region];
  const int number = given < 0 ? given + N : given;
  const int image = number * H;
  const float4 corners = rois[region] * scale - (half_pixel != 0 ? 0.5f : 0.0f);
  const float2 whole = corners.hi - corners.lo;
  const float2 size = half_pixel != 0 ? whole : fmax(whole, (float2)(1.0f));
  const bool exists = number >= 0 && number < N && all(isfinite(corners)) != 0;
  const float2 cells = (float2)((float)OW, (float)OH);
  const float2 count = exists ? samples_in_cells(size, cells, ratio) : (float2)(0.0f);
  const float2 cell = size / cells;
  const float2 step = cell / fmax(count, (float2)(1.0f));
  const float2 first = corners.lo + (float2)((float)(column / quads), (float)(out % OH)) * cell + 0.5f * step;
  const int2 rows = inside_of(first.s1, step.s1, count.s1, H);
  const int2 columns = inside_of(first.s0, step.s0, count.s0, W);
  float4 sum = 0.0f, largest = -INFINITY;
  float seen = 0.0f;
  for (int i = rows.s0; i < rows.s1; ++i) {
    const float down = first.s1 + (float)i * step.s1;
    if (!IS_INSIDE(down, H)) continue;
    const int top = min((int)fmax(down, 0.0f), H - 1);
    const int low = min(top + 1, H - 1);
    const float v = top == low ? 0.0f : fmax(down, 0.0f) - (float)top;
    for (int j = columns.s0; j < columns.s1; ++j) {
      const float across = first.s0 + (float)j * step.s0;
      if (!IS_INSIDE(across, W)) continue;
      const int left = min((int)fmax(across, 0.0f), W - 1);
      const int right = min(left + 1, W - 1);
      const float u = left == right ? 0.0f : fmax(across, 0.0f) - (float)left;
      const float4 a = (1.0f - v) * (1.0f - u) * READ(top, left);
      const float4 b = (1.0f - v) * u * READ(top, right);
      const float4 c = v * (1.0f - u) * READ(low, left);
      const float4 d = v * u * READ(low, right);
      const float4 upper = larger(a, b), lower = larger(c, d);
      const float4 sample = larger(upper, lower);
      largest = larger(largest, sample);
      sum += (a + b) + (c + d);
      seen += 1.0f;
    }
  }
  // Samples outside of the image are 0.
  const float total = count.s0 * count.s1;
  const float4 zero = 0.0f;
  const float4 most = seen < total || seen == 0.0f ? larger(largest, zero) : largest;
  store4(y, texel_at(column, out, OW * quads), kind == 0 ? most : sum / fmax(total, 1.0f));
}
