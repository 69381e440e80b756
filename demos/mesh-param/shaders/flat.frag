/* A checkerboard in coordinates of the UV map, tinted by the distortion. Flipped triangles (area value below
 * -1000) are red. The variants are defines: IMAGE, COLOURED_BY (0: nothing, 1: angles, 2: areas), WIREFRAME. */
in vec3 eye, normal, corner;
in vec2 at;
flat in vec2 value;
flat in float border;
uniform float squares; /* per unit of length in the UV map; 0: no checkerboard; -1: no UV map yet */
uniform sampler2D colours;
out vec4 colour;

/* 0 or 1, or a mean if squares are smaller than pixels. */
float checker() {
  vec2 p = at * squares, wide = max(fwidth(p), 1e-6);
  vec2 wave = clamp((abs(fract(0.5 * p) - 0.5) - 0.25) * 2.0 / wide, -0.5, 0.5);
  return 0.5 - 2.0 * wave.x * wave.y * (1.0 - smoothstep(0.5, 1.5, max(wide.x, wide.y)));
}

/* Coverage of a pixel by a line `width` pixels wide along the selected edges. Component k of `corner` is 0 on
 * the edge opposite corner k. */
float lines(vec3 which, float width) {
  vec3 d = corner / max(fwidth(corner), 1e-9) + 1e6 * (1.0 - which);
  return clamp(0.5 + 0.5 * width - min(d.x, min(d.y, d.z)), 0.0, 1.0);
}

void main() {
  bool flipped = value.y < -1000.0 && squares >= 0.0;
  vec3 paint = vec3(0.86, 0.83, 0.78), dark = vec3(0.42, 0.52, 0.66);
#if COLOURED_BY == 1
  paint = texture(colours, vec2((0.5 + 255.0 * clamp(value.x, 0.0, 1.0)) / 256.0, 0.75)).rgb;
  dark = 0.78 * paint;
#elif COLOURED_BY == 2
  paint = texture(colours, vec2((0.5 + 255.0 * clamp(0.5 + 0.5 * value.y, 0.0, 1.0)) / 256.0, 0.25)).rgb;
  dark = 0.78 * paint;
#endif
  if (squares > 0.0) paint = mix(dark, paint, checker());
  if (flipped) paint = vec3(0.93, 0.10, 0.16);
  vec3 c = paint;
#if !IMAGE
  if (!gl_FrontFacing && !flipped) paint = mix(paint, vec3(0.30, 0.33, 0.38), 0.55);
  vec3 n = normalize(gl_FrontFacing ? normal : -normal);
  vec3 towards = normalize(-eye), key = normalize(vec3(-0.5, 0.65, 0.75)), fill = normalize(vec3(0.9, 0.05, 0.5));
  vec3 light = vec3(0.30) + 0.10 * n.y + 0.64 * max(dot(n, key), 0.0) + 0.18 * max(dot(n, fill), 0.0);
  float shine = max(dot(n, normalize(key + towards)), 0.0);
  c = paint * light + 0.07 * pow(shine, 32.0);
#endif
#if WIREFRAME
  c = mix(c, vec3(0.11, 0.13, 0.20), 0.45 * lines(vec3(1.0), 0.6));
#endif
  /* Bit 0 is the edge from corner 0 to corner 1, opposite corner 2. */
  int bits = int(border + 0.5);
  vec3 open = vec3(bits >> 1 & 1, bits >> 2 & 1, bits & 1);
  c = mix(c, vec3(0.70, 0.12, 0.10), 0.85 * lines(open, 2.2));
  colour = vec4(c, 1.0);
}
