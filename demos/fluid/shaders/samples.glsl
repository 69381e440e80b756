/* One sample of a grid. In a texture the samples begin at `origin`. In a buffer (BUFFERS 1) they are stored row
 * by row, `origin.x` per row. */
#if BUFFERS
#define SAMPLES samplerBuffer
vec4 sample_at(samplerBuffer data, ivec2 origin, ivec2 at) { return texelFetch(data, at.y * origin.x + at.x); }
#else
#define SAMPLES sampler2D
vec4 sample_at(sampler2D data, ivec2 origin, ivec2 at) { return texelFetch(data, origin + at, 0); }
#endif

/* Bilinear interpolation between samples. Positions are in cells, from the lower left corner. The first sample
 * is at `shift` from the corner, and the last one has index `last`. */
vec4 sample_between(SAMPLES data, ivec2 origin, vec2 shift, ivec2 last, vec2 cell) {
  vec2 at = cell - shift, low = floor(at), part = at - low;
  ivec2 a = clamp(ivec2(low), ivec2(0), last), b = clamp(ivec2(low) + 1, ivec2(0), last);
  vec4 lower = mix(sample_at(data, origin, a), sample_at(data, origin, ivec2(b.x, a.y)), part.x);
  vec4 upper = mix(sample_at(data, origin, ivec2(a.x, b.y)), sample_at(data, origin, b), part.x);
  return mix(lower, upper, part.y);
}

uniform SAMPLES velocity;
uniform ivec2 velocity_origin, cells;
uniform bool staggered; /* otherwise both components are at cell centres */

float velocity_x(vec2 cell) {
  vec2 shift = staggered ? vec2(0.0, 0.5) : vec2(0.5);
  ivec2 last = staggered ? cells - ivec2(0, 1) : cells - 1;
  return sample_between(velocity, velocity_origin, shift, last, cell).x;
}

float velocity_y(vec2 cell) {
  vec2 shift = staggered ? vec2(0.5, 0.0) : vec2(0.5);
  ivec2 last = staggered ? cells - ivec2(1, 0) : cells - 1;
  return sample_between(velocity, velocity_origin, shift, last, cell).y;
}
