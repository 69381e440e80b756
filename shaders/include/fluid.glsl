// A fluid's domain and the sampling of its fields, as defined in src/fluid/fluid.h. Positions are in cells.
//
// PERIODIC_X, PERIODIC_Y and COLLOCATED are 0 or 1. input0 is the velocity.
//   p[5]  width | height << 16; free for the pass; bits of the boundaries; a number of the pass, usually dt / h
//   p[6]  bits of the walls' tangential velocities: bottom, top (u), left, right (v)
//   p[7]  bits of their normal velocities: left, right (u), bottom, top (v)
#if defined(NEAREST) && defined(GL_ARB_gpu_shader5)
#define GATHERS
#extension GL_ARB_gpu_shader5 : enable
#endif
#define COMPONENTS 4
#include "include/pass.glsl"

#define SIZE ivec2(p[5].x & 0xffff, int(uint(p[5].x) >> 16))
#define NUMBER intBitsToFloat(p[5].w)

// Bits in p[5].z: one per boundary, in the order left, right, bottom, top.
#define WALL_BIT 1
#define OPEN_BIT 16
#define OUTLET_BIT 256
#define LEFT 0
#define RIGHT 1
#define BOTTOM 2
#define TOP 3
bool side_is(int bit, int side) { return (p[5].z & (bit << side)) != 0; }

#define FREE 1e30 // marks free faces in the prescribed velocities
#define RAW0(i) fetch_texel(input0, (i) + INPUT0_ORIGIN)
#define RAW1(i) fetch_texel(input1, (i) + INPUT1_ORIGIN)
#define RAW2(i) fetch_texel(input2, (i) + INPUT2_ORIGIN)
#define RAW3(i) fetch_texel(input3, (i) + INPUT3_ORIGIN)

float between(float a, float b, float t) { return a + (b - a) * t; }
vec4 between(vec4 a, vec4 b, float t) { return a + (b - a) * t; }

// Two neighbours in one dimension, and the distance of the position beyond the first or the last one.
struct Axis {
  int first, second;
  float fraction, below, above;
};

Axis locate(float at, int last, int periodic) {
  Axis a = Axis(0, 0, 0.0, 0.0, 0.0);
  if (periodic != 0) {
    float period = float(last + 1);
    at -= period * floor(at / period);
    if (!(at >= 0.0 && at < period)) at = 0.0;
    a.first = int(at);
    a.second = a.first == last ? 0 : a.first + 1;
  } else {
    a.below = max(-at, 0.0);
    a.above = max(at - float(last), 0.0);
    at = min(max(at, 0.0), float(last));
    a.first = int(at);
    a.second = min(a.first + 1, last);
  }
  a.fraction = at - float(a.first);
  // If the position coincides with a value, the neighbour has weight 0 and must not widen the limits of a correction.
  if (a.fraction == 0.0) a.second = a.first;
  return a;
}

Axis axis_x(float x, bool at_faces) {
  return locate(at_faces ? x : x - 0.5, SIZE.x - (at_faces ? PERIODIC_X : 1), PERIODIC_X);
}

Axis axis_y(float y, bool at_faces) {
  return locate(at_faces ? y : y - 0.5, SIZE.y - (at_faces ? PERIODIC_Y : 1), PERIODIC_Y);
}

// The value, and the minimum and maximum of the numbers it was interpolated from.
vec3 blend(vec3 s, int side, int wall_bits, float beyond) {
  float wall = intBitsToFloat(wall_bits);
  return side_is(WALL_BIT, side) && beyond > 0.0
             ? vec3(between(s.x, wall, min(2.0 * beyond, 1.0)), min(s.y, wall), max(s.z, wall))
             : s;
}

vec3 interpolate(float sw, float se, float nw, float ne, Axis x, Axis y) {
  return vec3(between(between(sw, se, x.fraction), between(nw, ne, x.fraction), y.fraction),
              min(min(sw, se), min(nw, ne)), max(max(sw, se), max(nw, ne)));
}

// The four numbers around a position, of component 0 (u) or 1 (v) of a field.
#if defined(GATHERS) && !PERIODIC_X && !PERIODIC_Y
#define SAMPLE(field, origin, component, x, y)                                                                         \
  gathered(textureGather(field, between_texels(field, origin, x, y), component), x, y)

vec2 between_texels(sampler2D field, ivec2 origin, Axis x, Axis y) {
  return vec2(origin + ivec2(x.first, y.first) + 1) * (1.0 / vec2(textureSize(field, 0)));
}

vec3 gathered(vec4 around, Axis x, Axis y) {
  if (x.fraction == 0.0) around.zy = around.wx;
  if (y.fraction == 0.0) around.xy = around.wz;
  return interpolate(around.w, around.z, around.x, around.y, x, y);
}
#else
#define SAMPLE(field, origin, component, x, y)                                                                         \
  interpolate(fetch_texel(field, origin + ivec2(x.first, y.first))[component],                                         \
              fetch_texel(field, origin + ivec2(x.second, y.first))[component],                                        \
              fetch_texel(field, origin + ivec2(x.first, y.second))[component],                                        \
              fetch_texel(field, origin + ivec2(x.second, y.second))[component], x, y)
#endif

vec3 sample_u(sampler2D field, ivec2 origin, vec2 at) {
  Axis x = axis_x(at.x, COLLOCATED == 0), y = axis_y(at.y, false);
  vec3 s = SAMPLE(field, origin, 0, x, y);
#if COLLOCATED
  s = blend(s, LEFT, p[7].x, x.below);
  s = blend(s, RIGHT, p[7].y, x.above);
#endif
  s = blend(s, BOTTOM, p[6].x, y.below);
  return blend(s, TOP, p[6].y, y.above);
}

vec3 sample_v(sampler2D field, ivec2 origin, vec2 at) {
  Axis x = axis_x(at.x, false), y = axis_y(at.y, COLLOCATED == 0);
  vec3 s = SAMPLE(field, origin, 1, x, y);
  s = blend(s, LEFT, p[6].z, x.below);
  s = blend(s, RIGHT, p[6].w, x.above);
#if COLLOCATED
  s = blend(s, BOTTOM, p[7].z, y.below);
  s = blend(s, TOP, p[7].w, y.above);
#endif
  return s;
}

vec2 velocity_at(vec2 at) {
  return vec2(sample_u(input0, INPUT0_ORIGIN, at).x, sample_v(input0, INPUT0_ORIGIN, at).x);
}

// The position, cells = dt / h earlier, of the fluid that is now at `at`, by the midpoint rule. `here` is the velocity
// at `at`.
vec2 trace(vec2 at, vec2 here, float cells) { return at - cells * velocity_at(at - 0.5 * cells * here); }

bool is_outside(vec2 at) {
  vec2 size = vec2(SIZE);
  return (PERIODIC_X == 0 && !(at.x >= 0.0 && at.x <= size.x)) ||
         (PERIODIC_Y == 0 && !(at.y >= 0.0 && at.y <= size.y));
}

// The cell at i, which may be one beyond the domain: its periodic image, or otherwise the nearest cell. This avoids
// clamp(): with it, NVIDIA's compiler (driver 580.159.04) merges the fetches of vorticity's two neighbours in x.
int cell_at(int i, int size, int periodic) {
  if (i < 0) return periodic != 0 ? i + size : 0;
  if (i >= size) return periodic != 0 ? i - size : size - 1;
  return i;
}
ivec2 cell_at(ivec2 i) { return ivec2(cell_at(i.x, SIZE.x, PERIODIC_X), cell_at(i.y, SIZE.y, PERIODIC_Y)); }

// The velocity at the centre of cell i, or of the nearest cell.
vec2 centre_velocity(ivec2 i) {
  i = cell_at(i);
  vec2 here = RAW0(i).xy;
#if !COLLOCATED
  here = 0.5 * (here + vec2(RAW0(i + ivec2(1, 0)).x, RAW0(i + ivec2(0, 1)).y));
#endif
  return here;
}
