/* Three lights fixed to the camera: a key light from the upper left, a fill light from the right, and the sky.
 * Back sides have another colour, so that holes are visible. Variants are defines instead of uniforms, because
 * a software rasterizer executes both sides of a branch: COLOURED_BY (0: nothing, 1: curvature, 2: distance
 * moved), FLAT, WIREFRAME. */
in vec3 eye;
in vec3 normal;
#if COLOURED_BY
in float value;
#endif
#if WIREFRAME
in vec3 share;
#endif
uniform sampler2D colours; /* lower row: curvature; upper row: distance moved */
uniform float range;
out vec4 colour;

#if WIREFRAME
/* Coverage of a pixel by lines along the edges. The share of a corner falls from 1 at the corner to 0 at the
 * opposite edge, so its derivatives give distances in pixels. Lines fade if triangles are hardly larger than
 * pixels. */
float edges() {
  float nearest = 1e9, height = 1e9;
  for (int k = 0; k < 3; k++) {
    float slope = length(vec2(dFdx(share[k]), dFdy(share[k])));
    if (slope == 0.0) continue;
    nearest = min(nearest, share[k] / slope);
    height = min(height, 1.0 / slope);
  }
  return clamp(1.1 - nearest, 0.0, 1.0) * smoothstep(1.5, 7.0, height);
}
#endif

void main() {
#if FLAT
  vec3 n = normalize(cross(dFdx(eye), dFdy(eye))); /* faces the viewer */
#else
  vec3 n = normalize(gl_FrontFacing ? normal : -normal);
#endif
  vec3 paint = vec3(0.83, 0.80, 0.75);
#if COLOURED_BY
  float x = COLOURED_BY == 1 ? 0.5 + 0.5 * value / range : value / range;
  x = (0.5 + 255.0 * clamp(x, 0.0, 1.0)) / 256.0;
  paint = texture(colours, vec2(x, COLOURED_BY == 1 ? 0.25 : 0.75)).rgb;
#endif
  if (!gl_FrontFacing) paint = mix(paint, vec3(0.36, 0.47, 0.62), 0.72);

  vec3 towards = normalize(-eye), key = normalize(vec3(-0.5, 0.65, 0.75)), fill = normalize(vec3(0.9, 0.05, 0.5));
  float sky = 0.5 + 0.5 * n.y;
  vec3 light = mix(vec3(0.20, 0.19, 0.19), vec3(0.34, 0.36, 0.39), sky);
  light += vec3(0.66, 0.64, 0.61) * max(dot(n, key), 0.0);
  light += vec3(0.17, 0.19, 0.22) * max(dot(n, fill), 0.0);
  vec3 c = paint * light;
  float shine = max(dot(n, normalize(key + towards)), 0.0), rim = 1.0 - clamp(dot(n, towards), 0.0, 1.0);
  shine *= shine, shine *= shine, shine *= shine, shine *= shine, shine *= shine;
  c += 0.10 * shine + 0.10 * rim * rim * rim;
#if WIREFRAME
  c = mix(c, vec3(0.11, 0.13, 0.20), 0.75 * edges());
#endif
  colour = vec4(c, 1.0);
}
