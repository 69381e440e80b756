// A diagonal block in sequence (Courtecuisse and Allard 2009, III.C): the new z of a quad and by how much it changes. Every
// fragment solves the quads of the block before its own too, since fragments know nothing of each other; the block is
// small. Reads the state (input0). QUADS_OF_BLOCK is the most that a block has.
#include "include/lcp.glsl"

layout(location = 0) out vec4 z;
layout(location = 1) out vec4 change;

vec4 columns_of(ivec2 row, int k, vec4 changes) {
  return vec4(dot(fetch_texel(entries, row + ivec2(0, k)), changes), dot(fetch_texel(entries, row + ivec2(1, k)), changes),
              dot(fetch_texel(entries, row + ivec2(2, k)), changes), dot(fetch_texel(entries, row + ivec2(3, k)), changes));
}

void main() {
  ivec2 i = place(), origin = matrix_of(i.y);
  vec4 changes[QUADS_OF_BLOCK];
  int own = i.x - FIRST_QUAD;
  for (int k = 0; k <= own; k++) {
    int quad = FIRST_QUAD + k;
    ivec2 row = origin + ivec2(4 * quad, FIRST_QUAD);
    vec2 s0 = fetch_texel(input0, ivec2(4 * quad, i.y)).rg, s1 = fetch_texel(input0, ivec2(4 * quad + 1, i.y)).rg,
         s2 = fetch_texel(input0, ivec2(4 * quad + 2, i.y)).rg, s3 = fetch_texel(input0, ivec2(4 * quad + 3, i.y)).rg;
    vec4 w = vec4(s0.x, s1.x, s2.x, s3.x), old = vec4(s0.y, s1.y, s2.y, s3.y), d = vec4(0);
    for (int j = 0; j < k; j++) w += columns_of(row, j, changes[j]);
    vec4 m0 = fetch_texel(entries, row + ivec2(0, k)), m1 = fetch_texel(entries, row + ivec2(1, k)),
         m2 = fetch_texel(entries, row + ivec2(2, k)), m3 = fetch_texel(entries, row + ivec2(3, k));
    vec4 least = fetch_texel(lower_bounds, ivec2(quad, i.y)), most = fetch_texel(upper_bounds, ivec2(quad, i.y));
    z.x = solve_unknown(old.x, w.x, m0.x, least.x, most.x);
    d.x = z.x - old.x;
    z.y = solve_unknown(old.y, w.y + m1.x * d.x, m1.y, least.y, most.y);
    d.y = z.y - old.y;
    z.z = solve_unknown(old.z, w.z + (m2.x * d.x + m2.y * d.y), m2.z, least.z, most.z);
    d.z = z.z - old.z;
    z.w = solve_unknown(old.w, w.w + (m3.x * d.x + m3.y * d.y + m3.z * d.z), m3.w, least.w, most.w);
    d.w = z.w - old.w;
    changes[k] = change = d;
  }
}
