/* One triangle that covers the viewport; `across` is 0 to 1 over the viewport. */
out vec2 across;

void main() {
  across = vec2(gl_VertexID == 1 ? 2.0 : 0.0, gl_VertexID == 2 ? 2.0 : 0.0);
  gl_Position = vec4(2.0 * across - 1.0, 0.0, 1.0);
}
