/* Positions of vertices: in a texture, at origin + the vertex's texel; or in a buffer (BUFFER 1), three numbers
 * each. */
ivec2 at(int i) { return ivec2(i & 4095, i >> 12); } /* lists have rows of 4096 */

#if BUFFER
uniform samplerBuffer positions;

vec3 position(int vertex) {
  int k = 3 * vertex;
  return vec3(texelFetch(positions, k).x, texelFetch(positions, k + 1).x, texelFetch(positions, k + 2).x);
}
#else
uniform sampler2D positions;
uniform usampler2D texels;
uniform ivec2 origin;

vec3 position(int vertex) {
  return texelFetch(positions, origin + ivec2(texelFetch(texels, at(vertex), 0).xy), 0).xyz;
}
#endif
