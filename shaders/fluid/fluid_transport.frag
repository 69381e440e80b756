// Dye and temperature carried by the velocity; with CORRECTS, like fluid_correct.frag. a is the remaining fraction of
// the colour, b that of the temperature. Values in walls are undefined until fluid_walls.frag draws there.
// Reads the velocity (input0), dye (input1) and carried (input2).
#include "include/fluid.glsl"

flat in vec4 a, b;
out vec4 result;

vec4 least, largest; // of the last sample

float inside(float beyond, int side) { return side_is(OPEN_BIT, side) ? 1.0 - min(beyond, 1.0) : 1.0; }

vec4 sample_dye(sampler2D field, ivec2 origin, vec2 at) {
  Axis x = axis_x(at.x, false), y = axis_y(at.y, false);
  vec4 sw = fetch_texel(field, origin + ivec2(x.first, y.first));
  vec4 se = fetch_texel(field, origin + ivec2(x.second, y.first));
  vec4 nw = fetch_texel(field, origin + ivec2(x.first, y.second));
  vec4 ne = fetch_texel(field, origin + ivec2(x.second, y.second));
  least = min(min(sw, se), min(nw, ne));
  largest = max(max(sw, se), max(nw, ne));
  float here = inside(x.below, LEFT) * inside(x.above, RIGHT) * inside(y.below, BOTTOM) * inside(y.above, TOP);
  return here * between(between(sw, se, x.fraction), between(nw, ne, x.fraction), y.fraction);
}

void main() {
  ivec2 i = texel();
  vec2 at = vec2(i) + 0.5, here = centre_velocity(i);
  vec2 from = trace(at, here, NUMBER);
#ifdef CORRECTS
  vec2 to = trace(at, here, -NUMBER);
  vec4 value = RAW2(i), returned = sample_dye(input2, INPUT2_ORIGIN, to);
  if (!is_outside(from) && !is_outside(to)) {
    sample_dye(input1, INPUT1_ORIGIN, from);
    value += 0.5 * (RAW1(i) - returned);
    value = mix(mix(value, largest, greaterThan(value, largest)), least, lessThan(value, least));
  }
#else
  vec4 value = sample_dye(input1, INPUT1_ORIGIN, from);
#endif
  result = vec4(a.xyz, b.x) * value;
}
