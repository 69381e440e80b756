/* A corner of a triangle: on the mesh, or with IMAGE in the plane of the UV map. images: u, v of each flat
 * vertex. distortion: for each triangle that of its angles, 0 to 1, and that of its area, -1 to 1, in units of
 * `ranges`. */
layout(location = 0) in vec3 place;
layout(location = 1) in vec3 direction; /* the normal */
layout(location = 2) in float seams;    /* bits 0, 1, 2: the edge from corner 0, 1, 2 is on the boundary */
layout(location = 3) in int vertex;     /* the flat vertex */
uniform sampler2D images, distortion;
uniform mat4 view, projection;
uniform vec4 window;                    /* of the UV map: lower left corner, and scales */
uniform vec2 ranges;
out vec3 eye, normal, corner;
out vec2 at;
flat out vec2 value;
flat out float border;

ivec2 list(int i) { return ivec2(i & 4095, i >> 12); } /* lists have rows of 4096 */

void main() {
  vec2 image = texelFetch(images, list(vertex), 0).xy;
  vec4 seen = view * vec4(place, 1.0);
  eye = seen.xyz;
  normal = mat3(view) * direction;
  corner = vec3(gl_VertexID % 3 == 0, gl_VertexID % 3 == 1, gl_VertexID % 3 == 2);
  at = image;
  value = texelFetch(distortion, list(gl_VertexID / 3), 0).xy / ranges;
  border = seams;
#if IMAGE
  gl_Position = vec4((image - window.xy) * window.zw - 1.0, 0.0, 1.0);
#else
  gl_Position = projection * seen;
#endif
}
