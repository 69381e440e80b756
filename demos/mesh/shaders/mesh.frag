/* Three lights that stay with the camera: a key from the upper left, a fill from the right, and the sky. Back
 * sides are of another colour, so that one sees through a hole. Kinds of drawing are defines and not uniforms, since a software rasterizer runs
 * both sides of a branch: COLOURED_BY (0: nothing, 1: curvature, 2: distance moved), FLAT, WIREFRAME. */
in vec3 eye;
in vec3 normal;
#if COLOURED_BY
in float value;
#endif
uniform mat4 view;
uniform isampler2D triangles;
uniform sampler2D colours; /* lower row: curvature, upper: distance moved */
uniform float range;
out vec4 colour;

#if WIREFRAME
vec3 corner(int k) {
  return (view * vec4(position(texelFetch(triangles, at(3 * gl_PrimitiveID + k), 0).x), 1.0)).xyz;
}

/* How much of a pixel the lines along the edges cover. The distance from an edge is linear over the triangle, so
 * its derivatives tell it in pixels. Lines fade where triangles are hardly larger than pixels. */
float edges() {
  vec3 p[3] = vec3[3](corner(0), corner(1), corner(2));
  vec3 n = cross(p[1] - p[0], p[2] - p[0]);
  if (dot(n, n) == 0.0) return 0.0;
  float nearest = 1e9, height = 1e9;
  for (int k = 0; k < 3; k++) {
    vec3 a = p[k], along = p[(k + 1) % 3] - a, inwards = cross(n, along);
    float d = dot(eye - a, inwards), slope = length(vec2(dFdx(d), dFdy(d)));
    if (slope == 0.0) continue;
    nearest = min(nearest, abs(d) / slope);
    height = min(height, dot(p[(k + 2) % 3] - a, inwards) / slope);
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
