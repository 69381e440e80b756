/* u and v of each flat vertex in the UV map, from the solver's vector. A fragment is a vertex. Each chart is
 * rotated, scaled and moved to its position in the UV map: (u, v) becomes (a u - b v, b u + a v) + (c, d).
 *
 * places: the vector, in a texture from `origin` on, or with BUFFER in a buffer. where: for each vertex the
 * texels of u and of v (x + 2^16 y, or the index in the buffer), their components (that of v times 16), and the
 * chart. charts: a, b, c, d. */
#if BUFFER
uniform samplerBuffer places;
#else
uniform sampler2D places;
#endif
uniform usampler2D where;
uniform sampler2D charts;
uniform ivec2 origin;
uniform int vertices;
layout(location = 0) out vec2 place;

float number(uint texel, uint component) {
#if BUFFER
  return texelFetch(places, int(texel)).x;
#else
  return texelFetch(places, origin + ivec2(int(texel & 65535u), int(texel >> 16)), 0)[int(component)];
#endif
}

void main() {
  ivec2 here = ivec2(gl_FragCoord.xy);
  place = vec2(0.0);
  if (here.x + (here.y << 12) >= vertices) return;
  uvec4 at = texelFetch(where, here, 0);
  int chart = int(at.w);
  vec4 s = texelFetch(charts, ivec2(chart & 4095, chart >> 12), 0);
  vec2 uv = vec2(number(at.x, at.z & 15u), number(at.y, at.z >> 4));
  place = vec2(s.x * uv.x - s.y * uv.y, s.y * uv.x + s.x * uv.y) + s.zw;
}
