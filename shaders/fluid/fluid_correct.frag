// MacCormack advection (Selle et al. 2008): carried + (u - carried carried back) / 2. The result is limited to the
// range of the velocities that `carried` was interpolated from. Reads the velocity (input0), prescribed velocities
// (input1) and carried (input2).
#include "include/fluid_faces.glsl"

// before: value, minimum and maximum at the position it was carried from.
float correct(float carried, float now, float returned, vec3 before, bool outside) {
  float value = carried + 0.5 * (now - returned);
  value = value < before.y ? before.y : value > before.z ? before.z : value;
  return outside ? carried : value;
}

float face_u(ivec2 i, vec2 at) {
  vec2 here = vec2(RAW0(i).x, sample_v(input0, INPUT0_ORIGIN, at).x);
  vec2 from = trace(at, here, NUMBER), to = trace(at, here, -NUMBER);
  return correct(RAW2(i).x, here.x, sample_u(input2, INPUT2_ORIGIN, to).x, sample_u(input0, INPUT0_ORIGIN, from),
                 is_outside(from) || is_outside(to));
}

float face_v(ivec2 i, vec2 at) {
  vec2 here = vec2(sample_u(input0, INPUT0_ORIGIN, at).x, RAW0(i).y);
  vec2 from = trace(at, here, NUMBER), to = trace(at, here, -NUMBER);
  return correct(RAW2(i).y, here.y, sample_v(input2, INPUT2_ORIGIN, to).x, sample_v(input0, INPUT0_ORIGIN, from),
                 is_outside(from) || is_outside(to));
}
