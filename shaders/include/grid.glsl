// Grids: a point's neighbours. A grid is (width, height, 1 if periodic in x, 1 if periodic in y); where one is, PERIODIC
// is defined.

bool outside(ivec2 i, ivec4 grid) { return any(lessThan(i, ivec2(0))) || any(greaterThanEqual(i, grid.xy)); }

// The point that a neighbour beyond a periodic side is. Beyond other sides it is left where it is.
ivec2 wrap(ivec2 i, ivec4 grid) {
#ifdef PERIODIC
  ivec2 below = ivec2(lessThan(i, ivec2(0))), above = ivec2(greaterThanEqual(i, grid.xy));
  return i + grid.zw * grid.xy * (below - above);
#else
  return i;
#endif
}

// The weights and the coefficients of coarse matrices know no storage: they are plain. FINE and COARSE: grids; where a
// dimension of the fine one is coarsened, its component of SHIFT is 1, and coarse point I is fine point I << SHIFT.
#define FINE p[5]
#define COARSE p[6]
#define SHIFT p[7].xy

// The fine point I << SHIFT + e, e in {-1, 0, 1}^2, and whether it is a neighbour of coarse point I at all: it is none in a
// dimension that is not coarsened, beyond a side, and at the seam of an odd periodic dimension, where coarse points are
// neighbours.
bool find_fine(ivec2 I, ivec2 e, out ivec2 i) {
  i = (I << SHIFT) + e;
  if (any(notEqual(e & (1 - SHIFT), ivec2(0)))) return false;
#ifdef PERIODIC
  ivec2 even_periodic = FINE.zw * (1 - (FINE.xy & 1));
  i = wrap(i, ivec4(FINE.xy, even_periodic));
#endif
  return !outside(i, FINE);
}
