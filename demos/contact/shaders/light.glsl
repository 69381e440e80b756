/* Lighting: the sun with a soft shadow, and the sky, attenuated by ambient occlusion. Colours are linear until
 * `display`. The shadow averages TAPS^2 lookups of its map. */
uniform sampler2DShadow shadow_map;
uniform sampler2D openness; /* ambient openness and depth; one texel covers coarse x coarse pixels */
uniform mat4 to_shadow;     /* world to shadow map, all coordinates 0 to 1 */
uniform vec3 sun;           /* unit vector towards the sun */
uniform vec3 viewer;
uniform vec2 shadow_step; /* distance of lookups, relative to the map's width and height */
uniform float shadow_lift, coarse;
uniform vec2 pixels;

/* Lifts the point off its surface, so that the surface does not shade itself. */
float sunlit(vec3 point, vec3 normal) {
  vec3 at = (to_shadow * vec4(point + shadow_lift * normal, 1.0)).xyz;
  float sum = 0.0, all = 0.0;
  for (int i = 0; i < TAPS; i++)
    for (int j = 0; j < TAPS; j++) {
      vec2 away = vec2(i, j) - 0.5 * float(TAPS - 1);
      float weight = exp(-5.0 * dot(away, away) / float(TAPS * TAPS));
      sum += weight * texture(shadow_map, vec3(at.xy + away * shadow_step, at.z));
      all += weight;
    }
  return sum / all;
}

/* Interpolates the four nearest texels, without those at other depths. */
float sky_seen(float depth) {
  vec2 at = gl_FragCoord.xy / coarse - 0.5;
  ivec2 low = ivec2(floor(at)), last = textureSize(openness, 0) - 1;
  vec2 part = at - vec2(low);
  float sum = 0.0, all = 0.0;
  for (int k = 0; k < 4; k++) {
    ivec2 step = ivec2(k & 1, k >> 1);
    vec2 seen = texelFetch(openness, clamp(low + step, ivec2(0), last), 0).xy;
    vec2 near = mix(1.0 - part, part, vec2(step));
    float weight = (near.x * near.y + 1e-3) / (1e-3 + abs(seen.y - depth) / depth);
    sum += weight * seen.x;
    all += weight;
  }
  return sum / all;
}

vec3 linear(vec3 rgb) { return pow(rgb, vec3(2.2)); }

/* Tone mapping: bright light approaches white slowly. */
vec3 display(vec3 light) {
  vec3 c = light * (1.0 + light / 6.0) / (1.0 + 0.55 * light);
  return pow(clamp(c, 0.0, 1.0), vec3(1.0 / 2.2));
}

vec3 lit(vec3 paint, vec3 point, vec3 normal, float depth, float gloss) {
  vec3 towards = normalize(viewer - point), half_way = normalize(towards + sun);
  float open = sky_seen(depth), direct = max(dot(normal, sun), 0.0);
  if (direct > 0.0) direct *= sunlit(point, normal);
  /* Occluded points still receive light that bounces off the body's own bright surfaces. */
  vec3 sky = open / (1.0 - 0.35 * paint * (1.0 - open));
  sky *= mix(vec3(0.34, 0.31, 0.28), vec3(0.72, 0.77, 0.84), 0.5 + 0.5 * normal.z);
  vec3 light = paint * (sky + vec3(1.42, 1.33, 1.18) * direct);
  float shine = pow(max(dot(normal, half_way), 0.0), 48.0), rim = 1.0 - max(dot(normal, towards), 0.0);
  rim *= rim, rim *= rim;
  return light + gloss * (0.35 * shine * direct + 0.16 * rim * open);
}

/* A light neutral gradient. The ground fades into it. */
vec3 background() {
  vec2 away = gl_FragCoord.xy / pixels - vec2(0.5, 0.45);
  vec3 c = mix(vec3(0.74, 0.77, 0.81), vec3(0.955, 0.96, 0.965), clamp(1.0 - 0.9 * dot(away, away), 0.0, 1.0));
  /* Dither by half a grey level, to hide the steps of 8-bit colours. */
  float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) - 0.5;
  return c + noise / 255.0;
}
