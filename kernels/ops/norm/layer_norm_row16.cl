// As layer_norm_row, 16 values at a time: mean, then the sum of squared deviations, then the result,
// in float at every precision.
#define EACH_STEP for (int t = 0; t < quads; t += 4)
#define READ to_float16(run_load(x, first + t, quads - t))
#define OWN(v) run_own(v, t, C, 0.0f)

ALONE __kernel void layer_norm_row16(BUFFER_IN(x), __global const float16* restrict scale,
                                     __global const float16* restrict bias, BUFFER_OUT(y), int M, int C,
                                     int rms, float epsilon) {
  const int row = get_global_id(0);
  if (row >= M) return;
  const int quads = (C + 3) / 4;
  const int first = row * quads;
  float mean = 0.0f;
  if (rms == 0) {
    float16 sum = 0.0f;
    EACH_STEP { sum += OWN(READ); }
    mean = sum_of16(sum) / (float)C;
  }
  float16 squares = 0.0f;
  EACH_STEP {
    const float16 v = OWN(READ - mean);
    squares = madd(v, v, squares);
  }
  const float factor = 1.0f / sqrt(sum_of16(squares) / (float)C + epsilon);
  EACH_STEP {
    const float16 v = madd((READ - mean) * factor, scale[t / 4], bias[t / 4]);
    run_store(y, first + t, quads - t, v, t, C)
  }
}
