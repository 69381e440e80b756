// A row of a level's matrix, plain or by parities. Reads x (input1).
uniform sampler2D stencil_sides, stencil_corners;

// Bits of the parities with known x; the others count as 0.
#ifndef KNOWN
#define KNOWN 15
#endif

float x_at(ivec2 at, int parity) {
#ifdef NEAREST
  // A software rasterizer fetches in either case and would execute the branch too.
  float x = fetch_texel(input1, at + INPUT1_ORIGIN).r;
  return (KNOWN >> parity & 1) == 0 ? 0.0 : x;
#else
  return (KNOWN >> parity & 1) == 0 ? 0.0 : fetch_texel(input1, at + INPUT1_ORIGIN).r;
#endif
}

// The sum over d != 0 of A^d[i] x[i + d].
float sum_of_neighbours(ivec2 i) {
  ivec2 c = place_coefficient(i);
  vec4 a = fetch_texel(stencil_sides, c);
  int parity = (i.x & 1) + 2 * (i.y & 1);
#ifdef PERIODIC
  vec4 x;
  for (int k = 0; k < 4; k++) {
    ivec2 j = wrap(i + ivec2(k < 2 ? 2 * k - 1 : 0, k < 2 ? 0 : 2 * k - 5), FINE);
    x[k] = x_at(place(j, FINE), (j.x & 1) + 2 * (j.y & 1));
  }
  float sum = dot(a, x);
#ifndef FIVE_POINT
  a = fetch_texel(stencil_corners, c);
  for (int k = 0; k < 4; k++) {
    ivec2 j = wrap(i + ivec2((k & 1) * 2 - 1, (k & 2) - 1), FINE);
    x[k] = x_at(place(j, FINE), (j.x & 1) + 2 * (j.y & 1));
  }
  sum += dot(a, x);
#endif
#else
  // In a region of parities, the eastern neighbour is next to the western one. In a plain field, i is between them.
#ifdef PARITIES
  const int next = 1;
#else
  const int next = 2;
#endif
  ivec2 west = place(i + ivec2(-1, 0), FINE), south = place(i + ivec2(0, -1), FINE);
  float sum = dot(a, vec4(x_at(west, parity ^ 1), x_at(west + ivec2(next, 0), parity ^ 1), x_at(south, parity ^ 2),
                          x_at(south + ivec2(0, next), parity ^ 2)));
#ifndef FIVE_POINT
  a = fetch_texel(stencil_corners, c);
  ivec2 corner = ivec2(west.x, south.y);
  sum += dot(a, vec4(x_at(corner, parity ^ 3), x_at(corner + ivec2(next, 0), parity ^ 3),
                     x_at(corner + ivec2(0, next), parity ^ 3), x_at(corner + ivec2(next, next), parity ^ 3)));
#endif
#endif
  return sum;
}
