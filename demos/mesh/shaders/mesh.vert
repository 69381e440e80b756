/* A vertex fetches its position from the solver's texture or buffer. COLOURED_BY: 0: nothing, 1: curvature, 2:
 * distance moved. WIREFRAME draws the corners of triangles without indices, so that each corner knows its
 * number. */
layout(location = 0) in uvec2 texel;
uniform sampler2D normals;
uniform sampler2D values;
uniform mat4 view, projection;

out vec3 eye;
out vec3 normal;
#if COLOURED_BY
out float value;
#endif
#if WIREFRAME
uniform isampler2D triangles;
out vec3 share; /* barycentric coordinates */
#endif

void main() {
#if WIREFRAME
  int vertex = texelFetch(triangles, at(gl_VertexID), 0).x;
  share = vec3(equal(ivec3(gl_VertexID % 3), ivec3(0, 1, 2)));
#else
  int vertex = gl_VertexID;
#endif
  ivec2 here = at(vertex);
#if BUFFER || WIREFRAME
  vec3 place = position(vertex);
#else
  vec3 place = texelFetch(positions, origin + ivec2(texel), 0).xyz;
#endif
  eye = (view * vec4(place, 1.0)).xyz;
  normal = mat3(view) * texelFetch(normals, here, 0).xyz;
#if COLOURED_BY
  value = texelFetch(values, here, 0)[COLOURED_BY - 1];
#endif
  gl_Position = projection * vec4(eye, 1.0);
}
