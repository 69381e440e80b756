// The rectangles of a matrix's rows, each with its own loop length (Bolz et al. 2003, 3.2.2). A square is drawn as a
// point of its size. It is not cut into two triangles, so nothing is shaded twice along a diagonal (the waste described
// in 3.2.1). With QUADS, for rectangles that are not squares, each is an instance of four vertices.
#include "include/parameters.glsl"

layout(location = 0) in ivec4 rectangle; // texel x, y of its entries; loop length; 1 for a spill + 2 for no equations

flat out ivec2 loop;
flat out ivec2 base;

void main() {
#ifdef QUADS
  int number = gl_InstanceID;
#else
  int number = gl_VertexID;
#endif
  ivec2 at = ivec2(number % p[5].z, number / p[5].z);
  loop = rectangle.zw;
  base = rectangle.xy;
  vec2 size = vec2(1 << LOG2_WIDTH, 1 << LOG2_HEIGHT);
#ifdef QUADS
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
#else
  gl_PointSize = size.x;
  vec2 corner = vec2(0.5);
#endif
  gl_Position = vec4((vec2(at) + corner) * size / vec2(p[0].zw) * 2.0 - 1.0, 0.0, 1.0);
}
