// Blocks (Buatois et al. 2008): 2 x 2 in one texel, row by row, or 4 x 4 in four, a column each. The four stand side by
// side, or with STRIPS each in a strip as wide as a rectangle: neighbouring blocks then are neighbouring texels, as in
// the paper's strip mining.
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

// sum + block x; needs add_product of row_sum.glsl.
#if LOG2_BLOCK == 1
#define ADD_BLOCK(SUM, B, X)             \
  {                                      \
    add_product(SUM, X.x, B.part[0].xz); \
    add_product(SUM, X.y, B.part[0].yw); \
  }
#else
#define ADD_BLOCK(SUM, B, X)          \
  {                                   \
    add_product(SUM, X.x, B.part[0]); \
    add_product(SUM, X.y, B.part[1]); \
    add_product(SUM, X.z, B.part[2]); \
    add_product(SUM, X.w, B.part[3]); \
  }
#endif
