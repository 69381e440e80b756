// Gravity; with LIFT, buoyancy and the weight of smoke; with CONFINEMENT, vorticity confinement: epsilon h (N x omega),
// N = grad |omega| / |grad |omega|| (Fedkiw et al. 2001). This is computed in cells, and a face receives the mean of
// its two cells. Reads the velocity (input0), prescribed velocities (input1), dye (input2) and the vorticity (input3).
// p[6]: bits of gravity x, y, buoyancy, weight of smoke; p[7].x: bits of epsilon h.
#include "include/fluid_faces.glsl"

#ifdef CONFINEMENT
vec2 confinement(ivec2 i) {
  vec2 slope = vec2(abs(RAW3(cell_at(i + ivec2(1, 0))).x) - abs(RAW3(cell_at(i - ivec2(1, 0))).x),
                    abs(RAW3(cell_at(i + ivec2(0, 1))).x) - abs(RAW3(cell_at(i - ivec2(0, 1))).x));
  float omega = RAW3(cell_at(i)).x;
  float length_of_slope = sqrt(slope.x * slope.x + slope.y * slope.y) + 1e-3 * abs(omega);
  if (!(length_of_slope > 0.0)) return vec2(0);
  return intBitsToFloat(p[7].x) * omega * vec2(slope.y, -slope.x) / length_of_slope;
}
#else
vec2 confinement(ivec2 i) { return vec2(0); }
#endif

#ifdef LIFT
float upward(ivec2 i) {
  vec4 dye = RAW2(cell_at(i));
  return intBitsToFloat(p[6].z) * dye.a - intBitsToFloat(p[6].w) * ((dye.r + dye.g + dye.b) / 3.0);
}
#else
float upward(ivec2 i) { return 0.0; }
#endif

float face_u(ivec2 i, vec2 at) {
  float v = RAW0(i).x + intBitsToFloat(p[6].x);
#if COLLOCATED
  return v + confinement(i).x;
#else
  return v + 0.5 * (confinement(i).x + confinement(i - ivec2(1, 0)).x);
#endif
}

float face_v(ivec2 i, vec2 at) {
  float v = RAW0(i).y + intBitsToFloat(p[6].y);
  float here = upward(i) + confinement(i).y;
#if COLLOCATED
  return v + here;
#else
  return v + 0.5 * (here + (upward(i - ivec2(0, 1)) + confinement(i - ivec2(0, 1)).y));
#endif
}
