// The viewport is 4 x 2 texels. Vertices 0 to 2: a triangle over three of the left 2 x 2 texels. Vertex 3: a point over
// the right 2 x 2.
void main() {
  if (gl_VertexID < 3)
    gl_Position = vec4(gl_VertexID == 1 ? 0.2 : -1.0, gl_VertexID == 2 ? 1.4 : -1.0, 0.0, 1.0);
  else
    gl_Position = vec4(0.5, 0.0, 0.0, 1.0);
  gl_PointSize = 2.0;
}
