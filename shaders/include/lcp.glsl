// Complementarity problems with dense matrices. All textures but those of the caller's vectors have problem after problem in
// their rows (y), which are padded to a multiple of 4 unknowns: padding has bounds 0, a diagonal of 1, and so stays 0. In
// quads and columns of contacts of 3 unknowns (DIMENSION) the fourth number is 0: a quad is a contact, or two of 2 unknowns.
//   entries            M: texel (row, quad) of a problem holds the columns of a quad
//   bounds, z          texel (quad, problem): four unknowns; with friction the lower bound is mu of an unknown's contact
//   state              texel (row, problem): w = M z + q and z
// p[5], p[6].xy = the tiling of the vectors; p[6].z = unknowns of a problem; p[6].w = matrices side by side in their texture;
// p[7].x = quads of a problem; p[7].y, p[7].z = what the pass is about: the first quad of a block and their count, or an
// unknown or contact.
#ifdef PAIR
#include "include/pair.glsl"
#endif
#include "include/pass.glsl"
#include "include/tiling.glsl"

uniform sampler2D entries, lower_bounds, upper_bounds;

#define SIZE p[6].z
#define ABREAST p[6].w
#define QUAD_COUNT p[7].x
#define FIRST_QUAD p[7].y
#define BLOCK_QUADS p[7].z
#define UNKNOWN p[7].y
#define CONTACT p[7].y

#if DIMENSION == 3
#define QUAD_ROWS 3
int quad_of(int row) { return row / 3; }
int channel_of(int row) { return row % 3; }
#else
#define QUAD_ROWS 4
int quad_of(int row) { return row >> 2; }
int channel_of(int row) { return row & 3; }
#endif

// The quad or row, and the problem, of a fragment that is not in a vector.
ivec2 place() { return ivec2(gl_FragCoord.xy); }

// Where a problem's matrix begins.
ivec2 matrix_of(int problem) { return ivec2(problem % ABREAST * (QUAD_ROWS * QUAD_COUNT), problem / ABREAST * QUAD_COUNT); }

// The texel of an index in a vector.
ivec2 texel_of(int index) {
  int bits = RECTANGLE_LOG2.x + RECTANGLE_LOG2.y;
  int rectangle = index >> bits, rest = index & ((1 << bits) - 1);
  return (ivec2(rectangle % RECTANGLES_X, rectangle / RECTANGLES_X) << RECTANGLE_LOG2) +
         ivec2(rest & ((1 << RECTANGLE_LOG2.x) - 1), rest >> RECTANGLE_LOG2.x);
}

#ifdef PAIR
#include "include/lcp_pair.glsl"
#else
// The product of a row with z, whose quads are in `quads`. Four sums, so that rounding errors stay small.
float row_product(sampler2D quads, int row, int problem) {
  ivec2 at = matrix_of(problem) + ivec2(row, 0);
  vec4 sums = vec4(0);
  for (int k = 0; k < QUAD_COUNT; k++)
    sums += fetch_texel(entries, at + ivec2(0, k)) * fetch_texel(quads, ivec2(k, problem));
  return (sums.x + sums.y) + (sums.z + sums.w);
}

float project(float z, float least, float most) { return z < least ? least : z > most ? most : z; }

// The new z from w = M z + q with the newest of all others.
float solve_unknown(float z, float w, float diagonal, float least, float most) {
  return project(z - w / diagonal, least, most);
}
#endif
