// Adds the changes of a block to the w of a quad. Reads w (input0), z before the block (input1) and after it (input2).
#include "include/lcp_together.glsl"

QUAD change_at(int quad, int problem) {
  ivec2 at = place_of(quad, problem);
  return subtract(QUAD_AT2(at), QUAD_AT1(at));
}

#ifdef TOGETHER
#ifdef PAIR
#define AHEAD 1
#else
#define AHEAD 4
#endif
// The entries of quad k of the block. Beyond the block, entries that may be multiplied by 0.
Entries entries_of(ivec2 matrix, int rows, int k) { return entries_at(matrix, rows, FIRST_QUAD + min(k, BLOCK_QUADS - 1)); }

// Each invocation fetches one change and shares it with the others. Entries are fetched ahead.
void add_together(inout QUAD sums[QUAD_ROWS], ivec2 matrix, ivec2 quad) {
  int number = int(gl_SubgroupInvocationID);
  Entries m[AHEAD];
  for (int a = 0; a < AHEAD; a++) m[a] = entries_of(matrix, quad.x, a);
  QUAD change = NOTHING;
  if (number < BLOCK_QUADS) change = change_at(FIRST_QUAD + number, quad.y);
  for (int k = 0; k < BLOCK_QUADS; k += AHEAD)
    for (int a = 0; a < AHEAD; a++) {
      Entries next = entries_of(matrix, quad.x, k + AHEAD + a);
      add_rows(sums, m[a], shuffle(change, uint(k + a)));
      m[a] = next;
    }
}
#endif

void add_alone(inout QUAD sums[QUAD_ROWS], ivec2 matrix, ivec2 quad) {
  for (int k = FIRST_QUAD; k < FIRST_QUAD + BLOCK_QUADS; k++)
    add_rows(sums, entries_at(matrix, quad.x, k), change_at(k, quad.y));
}

void main() {
  ivec2 quad = own_quad(), matrix = matrix_of(quad.y);
  QUAD none[QUAD_ROWS], sums[QUAD_ROWS];
  for (int c = 0; c < QUAD_ROWS; c++) none[c] = NOTHING;
  sums = none;
#ifdef TOGETHER
  add_together(sums, matrix, quad);
  if (subgroupBallot(true).x != 0xffffffffu) { // tested at the end, so that nothing waits for the answer
    sums = none;
    add_alone(sums, matrix, quad);
  }
#else
  add_alone(sums, matrix, quad);
#endif
  write(add_totals(QUAD_AT0(place_of(quad.x, quad.y)), sums));
}
