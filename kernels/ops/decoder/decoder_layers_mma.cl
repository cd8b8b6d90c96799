// decoder_layers with weights of 4 bits: products as mma_row.clh has them, heads as attention_parts.clh, all
// stages of all layers in one launch of GROUPS groups. What a stage makes its groups hand to those of the
// next one (grid.clh), in `state` from its texel FIRST_SHARED on: qkv, the parts of heads and their weights,
// between, gated and y. A group writes what it hands on in a layer only behind stages that needed all of it
// in the layer before, so each layer is a turn. While it waits, AHEAD pairs of blocks of its next weights are
// on their way, asked for with the last tile before, or behind its heads: a compute unit's loads come in the
// order in which they were asked for, so more of them would keep what it waits for from coming. Its own sums,
// of which an item goes on with those that it made, are in `kept`, of KEPT tiles.
// With ITEMS items to a compute unit each has 128 registers. What a compiler cannot keep in them lies in
// memory and comes back behind all weights on their way: 40 bytes of it cost 3 % of a layer.
#define FIRST_SHARED 4
#define PRODUCTS 4  // of a layer
#if ROW_PARTS < ATTEND_ROOM || GROUP != ITEMS
#error "a head has no room in what the products leave"
#endif
// A product of a layer. `w` and `scales` are those of the first layer, `x` comes from groups and `y` goes to
// them; the group's tiles are `own` from `first` on.
typedef struct {
  __global const char *w, *scales;
  __global const float4* x;
  __global float* y;
  int K, N, first, own;
} Product;
// Product `stage` of layer `layer`. A panel of 32 columns has 512 bytes of each block.
#define PRODUCT(layer, stage)                                                             \
  const int gated = (stage) == 2;                                                         \
  const int K = products[stage].K, N = products[stage].N;                                 \
  const int first = products[stage].first, own = products[stage].own;                     \
  const size_t blocks_before = (size_t)((uint)(layer)) * ((uint)N / 32 * ((uint)K / 32)); \
  __global const char* w = products[stage].w + 512 * blocks_before;                       \
  __global const char* scales = products[stage].scales + ROW_SCALE_BYTES * blocks_before; \
  ROW_RUN
// The product behind that of `stage`.
#define NEXT_PRODUCT PRODUCT(layer + stage / (PRODUCTS - 1), (stage + 1) % PRODUCTS)
#define ROW_NEXT \
  here = next;   \
  here.left = min(next.left, 2 * AHEAD);
#define ROW_MORE(column) kept[(column) - first * 32]
// The weights that the heads' product needs first: asked for before, they keep what a head needs from coming.
#define ATTEND_BEGUN  \
  {                   \
    PRODUCT(layer, 1) \
    (void)n;          \
    ROW_FETCH         \
  }

// Of x, which is another stage's y, but for the first layer's: that is there. Heads come in parts.
#define ASK_X(block)                                                              \
  EACH_TEXEL {                                                                    \
    value[h] = 0.0f;                                                              \
    if (stage != 1 && HAS_TEXEL(block)) value[h] = grid_take(x + X_TEXEL(block)); \
  }
#define AWAIT_X(block)                                                                                      \
  if (stage == 1) {                                                                                         \
    EACH_TEXEL {                                                                                            \
      float4 weights_of = 0.0f, parts_of[PARTS] = {0.0f, 0.0f, 0.0f, 0.0f};                                 \
      if (HAS_TEXEL(block)) {                                                                               \
        JOIN_TAKE(X_TEXEL(block))                                                                           \
        grid_await(JOIN_LOOK, JOIN_TAKE(X_TEXEL(block)), JOIN_LOSE)                                         \
        JOINED(value[h])                                                                                    \
        if (group == 0) buffer_store4(attended, X_TEXEL(block), value[h]);                                  \
      }                                                                                                     \
    }                                                                                                       \
  } else if (!there) {                                                                                      \
    grid_await(EACH_TEXEL if (HAS_TEXEL(block)) missing |= grid_missing(value[h], turn_of_x), ASK_X(block), \
               EACH_TEXEL value[h] = grid_never(turn_of_x))                                                 \
    EACH_TEXEL value[h] = grid_short(value[h]);                                                             \
  }                                                                                                         \
  (void)turn_of_x;
// Sums go on from `kept`, which has all bits: they may be far larger than what is added to them.
#define GIVE(column, v)                                                      \
  {                                                                          \
    const float given = v;                                                   \
    if (add) ROW_MORE(column) = given;                                       \
    if (layer + 1 == first_layer + count) y[column] = given;                 \
    grid_give1(products[stage].y + (column), grid_short1(given), turn_of_y); \
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
  __global float4* const attended_parts = shared_qkv + (H + 2 * KV) * QUADS;
  __global float4* const part_weights = attended_parts + PARTS * H * QUADS;
  const uint turns_before = *state;
  const int group = get_group_id(1), groups = get_num_groups(1);
  __local Product products[PRODUCTS];
  if (item == 0) {
    __global float4* const between = part_weights + H;
    __global float4* const gated_row = between + C / 4;
    __global float4* const sums = gated_row + F / 4;
    products[0] = (Product){(__global const char*)w_qkv, (__global const char*)s_qkv, sums,
                            (__global float*)shared_qkv, C, (H + 2 * KV) * D, 0, 0};
    products[1] = (Product){(__global const char*)w_o, (__global const char*)s_o, attended_parts,
                            (__global float*)between, H * D, C, 0, 0};
    products[2] = (Product){(__global const char*)w_gate_up, (__global const char*)s_gate_up, between,
                            (__global float*)gated_row, C, 2 * F, 0, 0};
    products[3] = (Product){(__global const char*)w_down, (__global const char*)s_down, gated_row,
                            (__global float*)sums, F, C, 0, 0};
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < PRODUCTS) {
    const int gated = item == 2, N = products[item].N;
    ROW_SHARE(group, groups)
    products[item].first = first;
    products[item].own = own;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  __local float kept[KEPT * 32];
  for (int i = item; i < products[1].own * 32; i += ITEMS) {
    const int column = products[1].first * 32 + i;
    if (column < C) kept[i] = buffer_load1(start, column);
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
    __global const float4* x = there ? start : products[stage].x;
    __global float* const y =
        (__global float*)(stage == 0 ? qkv : stage == 1 ? middle : stage == 2 ? gate : out);
    const uint turn_of_y = turns_before + at / PRODUCTS + 1, turn_of_x = turn_of_y - (stage == 0);
    __global const float4* scale = (stage == 0 ? attn_scale : ffn_scale) + layer * (C / 4);
    __global const float4* bias = qkv_bias + layer * (N / 4);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    ROW_ASK_X
    here.left = end - warp * run;
    ROW_ASK(AHEAD, PAIRS)
    next.left = 0;
    if (at + 1 < (uint)count * PRODUCTS && stage != 0) {
      NEXT_PRODUCT
      SEEK(next, 0, warp * run)
    }
    ROW_SUMS
    if (own == 0) {
      ROW_NEXT
      ROW_ASK(0, AHEAD)
    }
    ROW_END
    if (stage == 0) {
      ROW_FORGET
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      const size_t before = (size_t)layer * cap * KV * QUADS;
      BUFFER_FROM(k_of) = buffer_at(k, before);
      BUFFER_FROM(v_of) = buffer_at(v, before);
      BUFFER_TO(new_k_of) = buffer_at(new_k, before);
      BUFFER_TO(new_v_of) = buffer_at(new_v, before);
      __local float4* const shares_of = parts;
      for (int part = group; part < H * PARTS; part += groups) {
        ATTEND(part)
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      NEXT_PRODUCT
      SEEK(here, 0, warp * run)
      ROW_ASK(0, AHEAD)
    }
  }
  if (group == 0 && item == 0) *state = turns_before + count;
}
