// Computes an entry of a mesh operator's matrix (Bolz et al. 2003, section 3.1.2) from its corners i, j, previous and
// next. Their positions are fetched from x (input0). Requires include/pass.glsl.
// p[7].x = packed origin of x; p[7].y = bits of a power of two that scales x to the unit of the matrix; p[7].z, w =
// bits of the factor and of the shortest length in this unit.

uniform usampler2D corners;

#define NO_CORNER 0xffffffffu
#define SCALE intBitsToFloat(p[7].y)
#define FACTOR intBitsToFloat(p[7].z)
#define SHORTEST intBitsToFloat(p[7].w)

vec3 position(uint pointer) {
  uint moved = pointer + uint(p[7].x);
  return SCALE * fetch_texel(input0, ivec2(int(moved & 0xffffu), int(moved >> 16))).rgb;
}

// The power of two that scales the largest component of two edges to between 1 and 2. Their squares then stay in the
// range of single precision for any size of triangle. If all edges are 0, this is the largest such power.
float unit_of(vec3 u, vec3 v) {
  vec3 larger = max(abs(u), abs(v));
  uint bits = floatBitsToUint(max(larger.x, max(larger.y, larger.z))) & 0x7f800000u;
  return uintBitsToFloat(0x7f000000u - min(bits, 0x7e800000u));
}

// Triangles are scaled so that the squares of their edges add up to 1. The lower limit of the cross product is then a
// constant.
float cotangent(vec3 a, vec3 b, vec3 c) {
  vec3 u = a - b, v = c - b;
  float unit = unit_of(u, v);
  u *= unit;
  v *= unit;
  vec3 w = unit * (a - c);
  float squares = dot(u, u) + dot(v, v) + dot(w, w);
  if (squares == 0.0) return 0.0;
  float scale = inversesqrt(squares);
  u *= scale;
  v *= scale;
  return dot(u, v) / max(length(cross(u, v)), 1e-3);
}

float area(vec3 a, vec3 b, vec3 c) {
  vec3 u = a - b, v = c - b;
  float unit = unit_of(u, v);
  u *= unit;
  v *= unit;
  float squares = dot(u, u) + dot(v, v);
  if (squares == 0.0) return 0.0;
  float scale = inversesqrt(squares);
  return 0.5 * squares * length(cross(u * scale, v * scale)) / unit / unit;
}

// The entry's contribution to m_i; x is the position of its row.
float mass(vec3 x, uvec4 c) {
#ifdef CURVE
  return distance(x, position(c.y));
#else
  return 4.0 * area(position(c.z), x, position(c.y));
#endif
}
