// Queries and keys turned by their positions, keys and values put into their caches at rows P and
// on (kernels/common/rope.clh); a pair of quads an item.
ALONE __kernel void rope_pair(BUFFER_IN(x), __global const float4* restrict cosines,
                              __global const float4* restrict sines, __global const float4* restrict q_scale,
                              __global const float4* restrict k_scale, BUFFER_OUT(y), BUFFER_OUT(k),
                              BUFFER_OUT(v), int M, int H, int KV, int D, int P, int halves, int norm,
                              float epsilon) {
  const int g = get_global_id(0);
  const int head = get_global_id(1);
  const int row = get_global_id(2);
  if (g >= D / 8 || head >= H + 2 * KV || row >= M) return;
  const bool scaled = norm && head < H + KV;
  const int first = (row * (H + 2 * KV) + head) * (D / 4);
  const float factor = scaled ? rope_factor(x, first, D / 4, epsilon) : 1.0f;
  ROPE_PAIR(g, head, row, factor)
}
