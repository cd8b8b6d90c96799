// As attention_rope_group256, of heads of D = 16 * MOST values; attention_early.clh says how.
// A group must fit with all its registers: of a known size, a compiler sees to that.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void attention_rope_early(BUFFER_IN(x), __global const float4* restrict cosines,
                                   __global const float4* restrict sines,
                                   __global const float4* restrict q_scale,
                                   __global const float4* restrict k_scale, BUFFER_IN(k),
                                   BUFFER_IN(v), BUFFER_OUT(y), BUFFER_OUT(new_k),
                                   BUFFER_OUT(new_v), int H, int KV, int P, int window, int halves,
                                   int norm, float epsilon, float scale) {
  __local float4 room[ATTEND_ROOM];
  const int item = get_local_id(0);
  const int head = get_global_id(1);
  ATTEND(head, room)
}
