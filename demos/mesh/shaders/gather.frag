/* Gathers a vertex's data for drawing from the triangles around it. A fragment is a vertex.
 *
 *   normal     sum of (u - x) x (v - x) over the triangles (x, u, v), normalized: area-weighted
 *   curvature  H = |grad A| / (2 A / 3) with A the triangles' area
 *   moved      distance from the start
 *
 * The curvature is positive if the surface is convex seen from the side of the normal. It is 0 at the border,
 * where the gradient does not measure curvature.
 *
 * positions.glsl has x of each vertex. fans: (first, count) of the vertex's triangles in `corners`, which holds
 * (u, v); the count is negative at the border. before: x at the start. outwards: -1 if the triangles' front
 * sides are inside, otherwise 1. */
uniform isampler2D fans;
uniform isampler2D corners;
uniform sampler2D before;
uniform int vertices;
uniform float outwards;

layout(location = 0) out vec4 normal;
layout(location = 1) out vec2 values; /* curvature, moved */

void main() {
  ivec2 here = ivec2(gl_FragCoord.xy);
  int vertex = here.x + (here.y << 12);
  normal = vec4(0.0);
  values = vec2(0.0);
  if (vertex >= vertices) return;
  vec3 x = position(vertex), sum = vec3(0.0), gradient = vec3(0.0);
  float twice_area = 0.0;
  ivec2 fan = texelFetch(fans, here, 0).xy;
  int count = abs(fan.y);
  for (int k = 0; k < count; k++) {
    ivec2 corner = texelFetch(corners, at(fan.x + k), 0).xy;
    vec3 u = position(corner.x) - x, v = position(corner.y) - x, c = cross(u, v);
    float size = length(c);
    sum += outwards * c;
    twice_area += size;
    if (size > 0.0) gradient += cross(c / size, v - u); /* twice the gradient of this triangle's area */
  }
  float l = length(sum);
  if (l > 0.0) normal = vec4(sum / l, 0.0);
  float curvature = twice_area > 0.0 && fan.y > 0 ? 1.5 * length(gradient) / twice_area : 0.0;
  /* The area of a convex surface increases outwards. */
  values = vec2(dot(gradient, sum) < 0.0 ? -curvature : curvature, distance(x, texelFetch(before, here, 0).xyz));
}
