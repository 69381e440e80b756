// Particles (x, y, age, speed) carried for dt seconds. A particle restarts at a random position if it leaves, enters a
// wall or reaches its lifetime. a is h, b the lifetime, p[5].w dt, p[5].y a seed. Reads the velocity (input0), walls
// (input1) and particles (input2).
#include "include/fluid.glsl"

flat in vec4 a, b;
out vec4 result;

// tsi_fluid_hash
uint hash(uint x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

float random(uint seed, uint particle, uint k) {
  return float(hash(particle + hash(seed + k)) >> 8) * (1.0 / 16777216.0);
}

vec2 wrapped(vec2 at) {
  vec2 size = vec2(SIZE);
#if PERIODIC_X
  at.x -= size.x * floor(at.x / size.x);
#endif
#if PERIODIC_Y
  at.y -= size.y * floor(at.y / size.y);
#endif
  return at;
}

bool in_wall(vec2 at) {
  at = min(max(wrapped(at), vec2(0)), vec2(SIZE - 1));
  return RAW1(ivec2(at)).x != 0.0;
}

void main() {
  ivec2 i = texel();
  uint particle = uint(i.y * TARGET_SIZE.x + i.x), seed = uint(p[5].y);
  vec4 old = RAW2(i);
  vec2 at = old.xy / a.x;
  at = trace(at, velocity_at(at), -NUMBER / a.x);
  float age = old.z + NUMBER;
  float most = b.x * (0.75 + 0.5 * random(0u, particle, 0u));
  if (is_outside(at) || in_wall(at) || (most > 0.0 && age >= most)) {
    age = 0.0;
    for (uint k = 1u; k <= 7u; k += 2u) {
      at = vec2(SIZE) * vec2(random(seed, particle, k), random(seed, particle, k + 1u));
      if (!in_wall(at)) break;
    }
  }
  at = wrapped(at);
  vec2 v = velocity_at(at);
  result = vec4(at * a.x, age, sqrt(v.x * v.x + v.y * v.y));
}
