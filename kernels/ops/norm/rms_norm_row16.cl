// y = x * scale / sqrt(mean(x * x) + epsilon) over the C values of a row, one row an item, 16 values
// at a time, in float at every precision.
#define EACH_STEP for (int t = 0; t < quads; t += 4)
#define READ to_float16(run_load(x, first + t, quads - t))

ALONE __kernel void rms_norm_row16(BUFFER_IN(x), __global const float16* restrict scale, BUFFER_OUT(y),
                                   int M, int C, float epsilon) {
  const int row = get_global_id(0);
  if (row >= M) return;
  const int quads = (C + 3) / 4;
  const int first = row * quads;
  float16 squares = 0.0f;
  EACH_STEP {
    const float16 v = run_own(READ, t, C, 0.0f);
    squares = madd(v, v, squares);
  }
  const float factor = 1.0f / sqrt(sum_of16(squares) / (float)C + epsilon);
  EACH_STEP {
    const float16 v = READ * factor * scale[t / 4];
    run_store(y, first + t, quads - t, v, t, C)
  }
}
