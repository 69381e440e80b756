// u - dt grad p. Reads the velocity (input0), prescribed velocities (input1) and the pressure (input2). Beyond a
// boundary the pressure is that of the last cell. Beyond an outlet it is the negative, so that it is 0 halfway.
// Collocated: central differences; in a solid, the pressure is that of the cell next to it.
#include "include/fluid_faces.glsl"

float pressure(ivec2 i) { return RAW2(i).x; }

float beyond(int side, float here) { return side_is(OUTLET_BIT, side) ? -here : here; }

#if COLLOCATED
float beside(ivec2 i, ivec2 step, int side, float here) {
  ivec2 other = i + step, inside = cell_at(other);
#if PERIODIC_X
  other.x = inside.x;
#endif
#if PERIODIC_Y
  other.y = inside.y;
#endif
  if (other != inside) return beyond(side, here);
  return RAW1(other).x < FREE ? here : pressure(other);
}

float face_u(ivec2 i, vec2 at) {
  float here = pressure(i);
  return RAW0(i).x -
         0.5 * NUMBER * (beside(i, ivec2(1, 0), RIGHT, here) - beside(i, ivec2(-1, 0), LEFT, here));
}

float face_v(ivec2 i, vec2 at) {
  float here = pressure(i);
  return RAW0(i).y -
         0.5 * NUMBER * (beside(i, ivec2(0, 1), TOP, here) - beside(i, ivec2(0, -1), BOTTOM, here));
}
#else
// The two cells at a face. The first or last face at a boundary that is not periodic has only one.
float difference(ivec2 i, ivec2 step, int low, int high) {
  ivec2 size = SIZE, before = i - step;
#if PERIODIC_X
  if (before.x < 0) before.x += size.x;
#endif
#if PERIODIC_Y
  if (before.y < 0) before.y += size.y;
#endif
  // Both are always fetched, because a software rasterizer executes all branches.
  bool first = before.x < 0 || before.y < 0, last = i.x >= size.x || i.y >= size.y;
  float here = pressure(last ? before : i), there = pressure(first ? i : before);
  if (first) there = beyond(low, here);
  if (last) here = beyond(high, there);
  return here - there;
}

float face_u(ivec2 i, vec2 at) { return RAW0(i).x - NUMBER * difference(i, ivec2(1, 0), LEFT, RIGHT); }
float face_v(ivec2 i, vec2 at) { return RAW0(i).y - NUMBER * difference(i, ivec2(0, 1), BOTTOM, TOP); }
#endif
