// decoder_layers with weights of 4 bits: products as mma_row.clh has them, heads as attention_early.clh, all
// stages of all layers in one launch of GROUPS groups. What a stage makes its groups hand to those of the
// next one (grid.clh), in `state` from its texel FIRST_SHARED on: qkv, attended, between, gated and y. A
// group writes what it hands on in a layer only behind stages that needed all of it in the layer before, so
// each layer is a turn. While it waits, AHEAD pairs of blocks of its next weights are on their way, asked for
// with the last tile before, or behind a head: more of them would keep what it waits for from coming, as a
// compute unit's loads come in the order in which they were asked for. Its own sums, of which an item goes on
// with those that it made, are in `kept`, of KEPT tiles.
#define FIRST_SHARED 4
#define PRODUCTS 4  // of a layer
#if ROW_PARTS < ATTEND_ROOM || GROUP != ITEMS
#error "a head has no room in what the products leave"
#endif
#define PICK(stage, qkv, o, gate_up, down) \
  ((stage) == 0 ? (qkv) : (stage) == 1 ? (o) : (stage) == 2 ? (gate_up) : (down))
// Matrix `stage` of layer `layer`, and the group's share of it, which is in `shares`. A panel of 32 columns
// has 512 bytes of each block.
#define ROWS_OF(stage) PICK(stage, C, H * D, C, F)
#define COLUMNS_OF(stage) PICK(stage, (H + 2 * KV) * D, C, 2 * F, C)
#define PRODUCT(layer, stage)                                                                 \
  const int gated = (stage) == 2;                                                             \
  const int K = ROWS_OF(stage), N = COLUMNS_OF(stage);                                        \
  const int first = shares[stage].x, own = shares[stage].y;                                   \
  const size_t blocks_before = (size_t)(layer) * ((uint)N / 32 * ((uint)K / 32));             \
  __global const char* w =                                                                    \
      (__global const char*)PICK(stage, w_qkv, w_o, w_gate_up, w_down) + 512 * blocks_before; \
  __global const char* scales =                                                               \
      (__global const char*)PICK(stage, s_qkv, s_o, s_gate_up, s_down) +                      \
      ROW_SCALE_BYTES * blocks_before;                                                        \
  ROW_RUN
// The product behind that of `stage`.
#define NEXT_PRODUCT PRODUCT(layer + stage / (PRODUCTS - 1), (stage + 1) % PRODUCTS)
#define ROW_NEXT \
  here = next;   \
  here.left = min(next.left, 2 * AHEAD);
#define ROW_MORE(texel) kept[(texel) - first * 8]
#define ROW_KEEP(texel, v) \
  if (add) ROW_MORE(texel) = v;

// Of x, which is another stage's y, but for the first layer's: that is there.
#define TAKE(texel) grid_take(x + (texel))
#define MISSING(v) grid_missing(v, turn_of_x)
#define NEVER grid_never(turn_of_x)
#define AWAIT(look, again, lose)  \
  if (!there) {                   \
    grid_await(look, again, lose) \
  }                               \
  (void)turn_of_x;
#define TAKEN(v) (there ? (v) : grid_short(v))
// Sums go on from y, which keeps all bits: they may be far larger than what is added to them.
#define GIVE(texel, v)                                           \
  {                                                              \
    const float4 given = v;                                      \
    buffer_store4(y, texel, given);                              \
    grid_give(shared_y + (texel), grid_short(given), turn_of_y); \
  }

// The group's heads, of the caches of one layer.
#define ATTEND_ALL(cached_k, cached_v, made_k, made_v)              \
  {                                                                 \
    BUFFER_FROM(of_k) = cached_k;                                   \
    BUFFER_FROM(of_v) = cached_v;                                   \
    BUFFER_TO(to_k) = made_k;                                       \
    BUFFER_TO(to_v) = made_v;                                       \
    {                                                               \
      BUFFER_FROM(x) = shared_qkv;                                  \
      BUFFER_FROM(k) = of_k;                                        \
      BUFFER_FROM(v) = of_v;                                        \
      BUFFER_TO(y) = attended;                                      \
      BUFFER_TO(new_k) = to_k;                                      \
      BUFFER_TO(new_v) = to_v;                                      \
      __global float4* const shared_y = shared_attended;            \
      __global const float4 *q_scale = cosines, *k_scale = cosines; \
      const int norm = 0;                                           \
      const bool there = false;                                     \
      const uint turn_of_x = turn_of_y;                             \
      const float scale = attention_scale;                          \
      for (int head = group; head < H; head += groups) {            \
        ATTEND(head, parts)                                         \
        barrier(CLK_LOCAL_MEM_FENCE);                               \
      }                                                             \
    }                                                               \
  }

__attribute__((reqd_work_group_size(ITEMS, 1, 1)))
__kernel void decoder_layers_mma(
    BUFFER_FROM(start), BUFFER_FROM(k), BUFFER_FROM(v), __global const float4* restrict cosines,
    __global const float4* restrict sines, __global const float4* restrict attn_scale,
    __global const float4* restrict ffn_scale, __global const float4* restrict qkv_bias,
    __global const uint2* restrict w_qkv, __global const uint2* restrict s_qkv,
    __global const uint2* restrict w_o, __global const uint2* restrict s_o,
    __global const uint2* restrict w_gate_up, __global const uint2* restrict s_gate_up,
    __global const uint2* restrict w_down, __global const uint2* restrict s_down,
    BUFFER_TO(out), BUFFER_TO(qkv), BUFFER_TO(attended), BUFFER_TO(middle), BUFFER_TO(gate),
    BUFFER_TO(new_k), BUFFER_TO(new_v), __global uint* state, int first_layer, int count, int C,
    int F, int H, int KV, int D, int P, int cap, int window, int halves, int code, int with_bias,
    float act_lo, float act_hi, float epsilon, float attention_scale) {
  ROW_LOCAL
  ROW_REGISTERS
  GRID_LOCAL(state)
  __global float4* const shared_qkv = (__global float4*)state + FIRST_SHARED;
  __global float4* const shared_attended = shared_qkv + (H + 2 * KV) * (D / 4);
  __global float4* const shared_between = shared_attended + H * (D / 4);
  __global float4* const shared_gated = shared_between + C / 4;
  __global float4* const shared_out = shared_gated + F / 4;
  const uint turns_before = *state;
  const int group = get_group_id(1), groups = get_num_groups(1);
  __local int2 shares[PRODUCTS];
  if (item < PRODUCTS) {
    const int gated = item == 2, N = COLUMNS_OF(item);
    ROW_SHARE(group, groups)
    shares[item] = (int2)(first, own);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  __local float4 kept[KEPT * 8];
  for (int i = item; i < shares[1].y * 8; i += ITEMS) {
    const int texel = shares[1].x * 8 + i;
    if (texel < C / 4) kept[i] = to_float4(buffer_load4(start, texel));
  }
  {
    PRODUCT(first_layer, 0)
    ROW_SEEK
  }
  ROW_ASK(0, AHEAD)
  RowPlace next = here;
  for (uint at = 0; at < (uint)count * PRODUCTS; ++at) {
    const int layer = first_layer + at / PRODUCTS, stage = at % PRODUCTS;
    PRODUCT(layer, stage)
    const int tiles = own * (1 + gated), norm = stage % 2 == 0, add = !norm;
    const int biased = stage == 0 && with_bias, act = gated ? code : 0;
    const bool there = at == 0;
    __global const float4* x = PICK(stage, there ? start : (__global const float4*)shared_out,
                                    shared_attended, shared_between, shared_gated);
    BUFFER_TO(y) = PICK(stage, qkv, middle, gate, out);
    __global float4* const shared_y =
        PICK(stage, shared_qkv, shared_between, shared_gated, shared_out);
    const uint turn_of_y = turns_before + at / PRODUCTS + 1, turn_of_x = turn_of_y - (stage == 0);
    __global const float4* scale = (stage == 0 ? attn_scale : ffn_scale) + layer * (C / 4);
    __global const float4* bias = qkv_bias + layer * (N / 4);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    ROW_ASK_X
    here.left = end - warp * run;
    ROW_ASK(AHEAD, PAIRS)
    const bool last = at + 1 == (uint)count * PRODUCTS, attends = stage == 0 && group < H;
    next.left = 0;
    if (!last && !attends) {
      NEXT_PRODUCT
      SEEK(next, 0, warp * run)
    }
    ROW_SUMS
    if (own == 0) {
      ROW_NEXT
      ROW_ASK(0, AHEAD)
    }
    ROW_END
    if (attends) {
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      const size_t before = (size_t)layer * cap * KV * (D / 4);
      ATTEND_ALL(buffer_at(k, before), buffer_at(v, before), buffer_at(new_k, before),
                 buffer_at(new_v, before))
      NEXT_PRODUCT
      ROW_SEEK
      ROW_ASK(0, AHEAD)
    }
  }
  if (group == 0 && item == 0) *state = turns_before + count;
}
