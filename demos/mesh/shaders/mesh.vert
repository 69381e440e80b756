/* A vertex fetches its position from the texture or the buffer that the solver left it in. COLOURED_BY: 0: nothing,
 * 1: curvature, 2: distance moved. */
layout(location = 0) in uvec2 texel;
uniform sampler2D normals;
uniform sampler2D values;
uniform mat4 view, projection;

out vec3 eye;
out vec3 normal;
#if COLOURED_BY
out float value;
#endif

void main() {
  ivec2 here = ivec2(gl_VertexID & 4095, gl_VertexID >> 12);
#if BUFFER
  vec3 place = position(gl_VertexID);
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
