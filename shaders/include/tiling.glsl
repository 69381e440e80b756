// The tiling of an index space (Bolz et al. 2003, 3.2.2) in p[5] and p[6]: which texels belong to an index.

#define RECTANGLE_LOG2 p[5].xy
#define RECTANGLES_X p[5].z
#define FREE_COUNT p[5].w
#define LOCKED_FIRST p[6].x
#define LOCKED_END p[6].y

int position_of(ivec2 i) {
  ivec2 rectangle = i >> RECTANGLE_LOG2;
  ivec2 inside = i & ((ivec2(1) << RECTANGLE_LOG2) - 1);
  return ((rectangle.y * RECTANGLES_X + rectangle.x) << (RECTANGLE_LOG2.x + RECTANGLE_LOG2.y)) +
         (inside.y << RECTANGLE_LOG2.x) + inside.x;
}

bool is_free(ivec2 i) { return (i.x >> RECTANGLE_LOG2.x) < RECTANGLES_X && position_of(i) < FREE_COUNT; }

bool is_index(ivec2 i) {
  if ((i.x >> RECTANGLE_LOG2.x) >= RECTANGLES_X) return false;
  int position = position_of(i);
  return position < FREE_COUNT || (position >= LOCKED_FIRST && position < LOCKED_END);
}
