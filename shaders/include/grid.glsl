// Grids and the neighbours of a point. A grid is (width, height, 1 if periodic in x, 1 if periodic in y). PERIODIC is
// defined if any grid is periodic.

bool outside(ivec2 i, ivec4 grid) { return any(lessThan(i, ivec2(0))) || any(greaterThanEqual(i, grid.xy)); }

// The point that a neighbour beyond a periodic boundary represents. Neighbours beyond other boundaries are unchanged.
ivec2 wrap(ivec2 i, ivec4 grid) {
#ifdef PERIODIC
  ivec2 below = ivec2(lessThan(i, ivec2(0))), above = ivec2(greaterThanEqual(i, grid.xy));
  return i + grid.zw * grid.xy * (below - above);
#else
  return i;
#endif
}

// The grids of two levels. Coarse point I is fine point 2 I.
#define FINE p[5]
#define COARSE p[6]

#ifdef PERIODIC
// 1 if the last and the first coarse point of an odd dimension are merged (src/common/grid/grid.h). As the last point,
// the merged point is also coarse point COARSE.xy. POINTS is the coarse grid with both.
#define MERGED (FINE.zw * ((FINE.xy + 1) / 2 - COARSE.xy))
#define POINTS ivec4(COARSE.xy + MERGED, COARSE.zw)

// The number of coarse points that I represents, and the k-th of them.
int count_of(ivec2 I) {
  ivec2 more = MERGED * ivec2(equal(I, ivec2(0)));
  return (1 + more.x) * (1 + more.y);
}
ivec2 counted_as(ivec2 I, int k) { return I + COARSE.xy * (MERGED.x * int(I.x == 0) == 1 ? ivec2(k & 1, k >> 1) : ivec2(0, k)); }
#else
#define POINTS COARSE
#endif

// The fine point 2 I + e, e in {-1, 0, 1}^2. Returns whether it is a neighbour of coarse point I: neither beyond a
// boundary nor at the seam of an odd periodic dimension, where two coarse points are neighbours on the fine grid.
bool find_fine(ivec2 I, ivec2 e, out ivec2 i) {
  i = 2 * I + e;
#ifdef PERIODIC
  ivec2 even_periodic = FINE.zw * (1 - (FINE.xy & 1));
  i = wrap(i, ivec4(FINE.xy, even_periodic));
#endif
  return !outside(i, FINE);
}
