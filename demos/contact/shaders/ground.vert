/* The plane z = 0, a square of `reach` metres around `middle`. */
uniform mat4 to_clip;
uniform vec2 middle;
uniform float reach;
#if PASS == 1
uniform mat4 to_eye;
out vec3 normal, eye;
#else
out vec3 point;
#endif

void main() {
  vec2 side = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  vec4 world = vec4(middle + reach * side, 0.0, 1.0);
  gl_Position = to_clip * world;
#if PASS == 1
  eye = (to_eye * world).xyz;
  normal = mat3(to_eye) * vec3(0.0, 0.0, 1.0);
#else
  point = world.xyz;
#endif
}
