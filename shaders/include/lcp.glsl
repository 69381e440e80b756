// Complementarity problems with dense matrices. All textures except the caller's vectors hold one problem after another
// in their rows (y). Rows are padded to a multiple of 4 unknowns. Padding has bounds 0 and a diagonal of 1, so it stays
// 0. In quads and columns of contacts with 3 unknowns (DIMENSION) the fourth number is 0: a quad is one contact, or two
// contacts of 2 unknowns.
//   entries            M: texel (rows, QUAD_ROWS * columns + c) of a problem holds row c of quad `rows` in the columns of quad
//                      `columns`, so that fragments of neighbouring quads fetch neighbouring texels
//   bounds, z          texel (quad, problem): four unknowns; with friction the lower bound is mu of an unknown's contact
//   w                  w = M z + q, laid out like z. Passes draw w and z; with FOLDED, the quads of the only problem form
//                      two rows
//   state              texel (row, problem): w and z
// p[5], p[6].xy = the tiling of the vectors; p[6].z = unknowns per problem; p[6].w = matrices side by side in their
// texture; p[7].x = quads per problem; p[7].y, p[7].z = arguments of the pass: the first quad of a block and the number
// of quads, or an unknown or contact.
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

// The row and problem of a state, for a fragment outside of vectors.
ivec2 place() { return ivec2(gl_FragCoord.xy); }

// The position of a quad of w or z in its region, and the quad and problem of a fragment there.
#ifdef FOLDED
ivec2 place_of(int quad, int problem) { return ivec2(quad >> 1, quad & 1); }
ivec2 own_quad() {
  ivec2 i = texel();
  return ivec2(2 * i.x + i.y, 0);
}
#else
ivec2 place_of(int quad, int problem) { return ivec2(quad, problem); }
ivec2 own_quad() { return texel(); }
#endif

// The origin of a problem's matrix.
ivec2 matrix_of(int problem) { return ivec2(problem % ABREAST * QUAD_COUNT, problem / ABREAST * (QUAD_ROWS * QUAD_COUNT)); }

// The texel of an index in a vector.
ivec2 texel_of(int index) {
  int bits = RECTANGLE_LOG2.x + RECTANGLE_LOG2.y;
  int rectangle = index >> bits, rest = index & ((1 << bits) - 1);
  return (ivec2(rectangle % RECTANGLES_X, rectangle / RECTANGLES_X) << RECTANGLE_LOG2) +
         ivec2(rest & ((1 << RECTANGLE_LOG2.x) - 1), rest >> RECTANGLE_LOG2.x);
}

// The same code serves single precision and pairs: REAL is a float or a Scalar, QUAD a vec4 or a Pair.
#ifdef PAIR
#include "include/lcp_pair.glsl"
#else
#define QUAD vec4
#define QUAD_AT0(at) fetch_texel(input0, (at) + INPUT0_ORIGIN)
#define QUAD_AT1(at) fetch_texel(input1, (at) + INPUT1_ORIGIN)
#define QUAD_AT2(at) fetch_texel(input2, (at) + INPUT2_ORIGIN)
#define Q_AT(at) FETCH0(at)

const QUAD NOTHING = vec4(0);
QUAD entry_at(ivec2 at) { return fetch_texel(entries, at); }
QUAD least_at(ivec2 quad) { return fetch_texel(lower_bounds, quad); }
QUAD most_at(ivec2 quad) { return fetch_texel(upper_bounds, quad); }
float pick(QUAD v, int channel) { return v[channel]; }
QUAD put(QUAD v, int channel, float x) {
  v[channel] = x;
  return v;
}
QUAD subtract(QUAD a, QUAD b) { return a - b; }
// Four sums keep rounding errors small.
QUAD add_products(QUAD sums, QUAD a, QUAD b) { return sums + a * b; }
float total_of(QUAD sums) { return (sums.x + sums.y) + (sums.z + sums.w); }
#endif
#include "include/lcp_law.glsl"

// The output of a pass.
layout(location = 0) out vec4 result;
#ifdef PAIR
layout(location = 1) out vec4 result_low;
void write(QUAD v) {
  result = v.high;
  result_low = v.low;
}
#else
void write(QUAD v) { result = v; }
#endif

// A row of M in the columns of a quad; all rows of a quad in these columns.
QUAD row_at(ivec2 matrix, int row, int columns) {
  return entry_at(matrix + ivec2(quad_of(row), QUAD_ROWS * columns + channel_of(row)));
}

struct Entries {
  QUAD rows[QUAD_ROWS];
};

Entries entries_at(ivec2 matrix, int rows, int columns) {
  Entries m;
  for (int c = 0; c < QUAD_ROWS; c++) m.rows[c] = entry_at(matrix + ivec2(rows, QUAD_ROWS * columns + c));
  return m;
}

// Accumulates the products of a quad's rows in sums that are totalled at the end.
void add_rows(inout QUAD sums[QUAD_ROWS], Entries m, QUAD x) {
  for (int c = 0; c < QUAD_ROWS; c++) sums[c] = add_products(sums[c], m.rows[c], x);
}

QUAD add_totals(QUAD w, QUAD sums[QUAD_ROWS]) {
  for (int c = 0; c < QUAD_ROWS; c++) w = put(w, c, add(pick(w, c), total_of(sums[c])));
  return w;
}

// The product of a row with z (input1), before totalling.
QUAD row_product(int row, int problem) {
  ivec2 matrix = matrix_of(problem);
  QUAD sums = NOTHING;
  for (int k = 0; k < QUAD_COUNT; k++)
    sums = add_products(sums, row_at(matrix, row, k), QUAD_AT1(place_of(k, problem)));
  return sums;
}

REAL project(REAL z, REAL least, REAL most) {
  if (is_less(z, least)) return least;
  if (is_less(most, z)) return most;
  return z;
}

// The new z from w = M z + q, with the newest values of all other unknowns.
REAL solve_unknown(REAL z, REAL w, REAL diagonal, REAL least, REAL most) {
  return project(subtract(z, divide(w, diagonal)), least, most);
}
