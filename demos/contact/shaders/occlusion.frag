/* Ambient openness: 1 minus the share of the sky hidden by surfaces within `radius` metres. It samples a spiral
 * of pixels around the point. The spiral is rotated from pixel to pixel, and smooth.frag removes the resulting
 * noise. */
in vec2 across;
uniform sampler2D geometry; /* normal; depth */
uniform vec2 slope;         /* slope of the view rays at the picture's right and upper edges */
uniform float radius;
out vec2 seen; /* openness; depth */

vec3 place(ivec2 at, vec2 size, float depth) { return depth * vec3(((vec2(at) + 0.5) / size * 2.0 - 1.0) * slope, -1.0); }

void main() {
  ivec2 here = ivec2(gl_FragCoord.xy), last = textureSize(geometry, 0) - 1;
  vec2 size = vec2(last + 1);
  vec4 own = texelFetch(geometry, here, 0);
  vec3 p = place(here, size, own.w);
  seen = vec2(1.0, own.w);
  if (own.w > 1e5) return;
  float wide = 0.5 * size.y * radius / (slope.y * own.w); /* `radius` in pixels */
  wide = min(wide, 0.3 * size.y);
  float angle = 6.2831853 * fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
  float hidden = 0.0, start = fract(angle * 7.31);
  for (int k = 0; k < SAMPLES; k++) {
    float part = (float(k) + 0.2 + 0.8 * start) / float(SAMPLES), turn = angle + float(k) * 2.3999632;
    ivec2 at = here + ivec2(round(wide * part * vec2(cos(turn), sin(turn))));
    if (any(lessThan(at, ivec2(0))) || any(greaterThan(at, last))) continue;
    vec3 away = place(at, size, texelFetch(geometry, at, 0).w) - p;
    float square = dot(away, away), above = dot(away, own.xyz) - 0.0015 * own.w;
    float near = max(1.0 - square / (radius * radius), 0.0);
    /* Outer samples represent more area. */
    hidden += near * max(above, 0.0) * inversesqrt(square + 1e-9) * (0.5 + part);
  }
  seen.x = pow(clamp(1.0 - 2.3 * hidden / float(SAMPLES), 0.0, 1.0), 1.5);
}
