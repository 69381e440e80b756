/* Values between the samples of a grid, bilinear. Positions count in cells from the lower left corner. A texture's
 * samples begin at `origin`, the first one stands `shift` from the corner, and the last one has the index `last`. */
vec4 sample_between(sampler2D data, ivec2 origin, vec2 shift, ivec2 last, vec2 cell) {
  vec2 at = cell - shift, low = floor(at), part = at - low;
  ivec2 a = clamp(ivec2(low), ivec2(0), last), b = clamp(ivec2(low) + 1, ivec2(0), last);
  vec4 lower = mix(texelFetch(data, origin + a, 0), texelFetch(data, origin + ivec2(b.x, a.y), 0), part.x);
  vec4 upper = mix(texelFetch(data, origin + ivec2(a.x, b.y), 0), texelFetch(data, origin + b, 0), part.x);
  return mix(lower, upper, part.y);
}

uniform sampler2D velocity;
uniform ivec2 velocity_origin, cells;
uniform bool staggered; /* else both components are at the centres of cells */

float velocity_x(vec2 cell) {
  return staggered ? sample_between(velocity, velocity_origin, vec2(0.0, 0.5), cells - ivec2(0, 1), cell).x
                   : sample_between(velocity, velocity_origin, vec2(0.5), cells - 1, cell).x;
}

float velocity_y(vec2 cell) {
  return staggered ? sample_between(velocity, velocity_origin, vec2(0.5, 0.0), cells - ivec2(1, 0), cell).y
                   : sample_between(velocity, velocity_origin, vec2(0.5), cells - 1, cell).y;
}
