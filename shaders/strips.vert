// The quads of a matrix's strips, one instance each: runs of rectangles with one loop length (Bolz et al. 2003, 3.2.2).

uniform ivec4 p[8];

layout(location = 0) in ivec4 box; // texels x0, y0, x1, y1
layout(location = 1) in ivec4 strip_in;
layout(location = 2) in ivec2 base_in;

flat out ivec4 strip;
flat out ivec2 base;

void main() {
  strip = strip_in;
  base = base_in;
  vec2 corner = vec2((gl_VertexID & 1) != 0 ? box.z : box.x, (gl_VertexID & 2) != 0 ? box.w : box.y);
  gl_Position = vec4(corner / vec2(p[0].zw) * 2.0 - 1.0, 0.0, 1.0);
}
