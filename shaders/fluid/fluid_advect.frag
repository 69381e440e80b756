// Semi-Lagrangian advection (Stam 1999): a face receives the velocity from the position that flows to the face within
// dt. Reads the velocity (input0) and prescribed velocities (input1).
#include "include/fluid_faces.glsl"

float face_u(ivec2 i, vec2 at) {
  vec2 here = vec2(RAW0(i).x, sample_v(input0, INPUT0_ORIGIN, at).x);
  return sample_u(input0, INPUT0_ORIGIN, trace(at, here, NUMBER)).x;
}

float face_v(ivec2 i, vec2 at) {
  vec2 here = vec2(sample_u(input0, INPUT0_ORIGIN, at).x, RAW0(i).y);
  return sample_v(input0, INPUT0_ORIGIN, trace(at, here, NUMBER)).x;
}
