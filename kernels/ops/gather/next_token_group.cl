// y = the row of `table` that belongs to the greatest of x, by the first group: an item looks at every
// GROUP-th texel, AT_ONCE of them on their way. Of equal values the first counts. `said` = x, which the
// other groups copy, then that row.
#define AT_ONCE 4
#define EACH_TEXEL _Pragma("unroll") for (int i = 0; i < AT_ONCE; ++i)
#define LOOK(value, number)  \
  if ((value) > most) {      \
    most = value;            \
    place = number;          \
  }

__kernel void next_token_group(BUFFER_IN(x), BUFFER_IN(table), BUFFER_OUT(y), BUFFER_OUT(said), int texels,
                               int width) {
  __local float largest[GROUP];
  __local int places[GROUP];
  const int item = get_local_id(0), group = get_group_id(1);
  if (group > 0) {
    for (int texel = (group - 1) * GROUP + item; texel < texels; texel += (GROUPS - 1) * GROUP)
      buffer_store4(said, texel, buffer_load4(x, texel));
    return;
  }
  float most = -INFINITY;
  int place = INT_MAX;
  for (int start = item; start < texels; start += AT_ONCE * GROUP) {
    float4 v[AT_ONCE];
    EACH_TEXEL {
      const int texel = start + i * GROUP;
      if (texel < texels) v[i] = buffer_load4(x, texel);
    }
    EACH_TEXEL {
      const int texel = start + i * GROUP;
      if (texel < texels) {
        LOOK(v[i].x, 4 * texel)
        LOOK(v[i].y, 4 * texel + 1)
        LOOK(v[i].z, 4 * texel + 2)
        LOOK(v[i].w, 4 * texel + 3)
      }
    }
  }
  largest[item] = most;
  places[item] = place;
  for (int step = GROUP / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < step) {
      const float other = largest[item + step];
      const int where = places[item + step];
      if (other > largest[item] || (other == largest[item] && where < places[item])) {
        largest[item] = other;
        places[item] = where;
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  // No value is greater than -INFINITY: the first token.
  const int token = places[0] < 4 * texels ? places[0] : 0;
  for (int texel = item; texel < width; texel += GROUP) {
    const float4 v = buffer_load4(table, (size_t)token * width + texel);
    buffer_store4(y, texel, v);
    buffer_store4(said, texels + texel, v);
  }
}
