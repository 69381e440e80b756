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
