// Blocks (Buatois et al. 2008): 2 x 2 in one texel, row by row, or 4 x 4 in four texels, one per column. The four
// texels are adjacent. With STRIPS, each is in a strip as wide as a rectangle. Neighbouring blocks are then
// neighbouring texels, as in the paper's strip mining.
#if LOG2_BLOCK == 1
#define PARTS 1
ivec2 part_of(ivec2 at, int c) { return at; }
#else
#define PARTS 4
#ifdef STRIPS
ivec2 part_of(ivec2 at, int c) {
  int x = at.x & ((1 << LOG2_WIDTH) - 1);
  return ivec2(((at.x - x) << 2) + (c << LOG2_WIDTH) + x, at.y);
}
#else
ivec2 part_of(ivec2 at, int c) { return ivec2((at.x << 2) + c, at.y); }
#endif
#endif

struct Block {
  vec4 part[PARTS];
};

#define FETCH_BLOCK(B, BLOCKS, AT) \
  for (int c = 0; c < PARTS; c++) B.part[c] = fetch_texel(BLOCKS, part_of(AT, c))

// sum + block x; requires add_product of row_sum.glsl.
#ifdef LOW0
#define ADD_COLUMN(SUM, X, CHANNEL, V)   \
  {                                      \
    add_product(SUM, X.high.CHANNEL, V); \
    low += X.low.CHANNEL * V;            \
  }
#else
#define ADD_COLUMN(SUM, X, CHANNEL, V) add_product(SUM, X.CHANNEL, V);
#endif
#if LOG2_BLOCK == 1
#define ADD_BLOCK(SUM, B, X)             \
  {                                      \
    ADD_COLUMN(SUM, X, x, B.part[0].xz)  \
    ADD_COLUMN(SUM, X, y, B.part[0].yw)  \
  }
#else
#define ADD_BLOCK(SUM, B, X)         \
  {                                  \
    ADD_COLUMN(SUM, X, x, B.part[0]) \
    ADD_COLUMN(SUM, X, y, B.part[1]) \
    ADD_COLUMN(SUM, X, z, B.part[2]) \
    ADD_COLUMN(SUM, X, w, B.part[3]) \
  }
#endif
