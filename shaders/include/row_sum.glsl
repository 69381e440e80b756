// The sum of a row. With PRECISE, which requires RESIDUAL, products and sums keep their rounding errors in a second
// number (include/exact.glsl). b - A x is the difference of nearly equal numbers when x is accurate. A solver that
// restarts from this residual obtains x to the last bit or two. With PAIR, both numbers are the result. With RESIDUAL
// too, their errors are kept in a third number, about 70 bits in all.
#if defined(PAIR) && defined(RESIDUAL)
#define ROW_PARTS 3
#elif defined(PAIR) || defined(PRECISE)
#define ROW_PARTS 2
#else
#define ROW_PARTS 1
#endif

#if ROW_PARTS == 1
void add_product(inout VALUE sum, float factor, VALUE x) { sum += factor * x; }
#else
VALUE low = VALUE(0);
#if ROW_PARTS == 3
VALUE lowest = VALUE(0);
void add_low(VALUE v) {
  VALUE error;
  low = two_sum(low, v, error);
  lowest += error;
}
void add_errors(VALUE a, VALUE b) {
  add_low(a);
  add_low(b);
}
#else
void add_errors(VALUE a, VALUE b) { low += a + b; }
#endif

void add_product(inout VALUE sum, float factor, VALUE x) {
  VALUE product_error, sum_error;
  VALUE product = two_product(factor, x, product_error);
  sum = two_sum(sum, product, sum_error);
  add_errors(sum_error, product_error);
}

#ifdef PAIR
void add_product(inout VALUE sum, float factor, Pair x) {
  add_product(sum, factor, x.high);
  low += factor * x.low;
}
#endif
#endif

// Adds the pieces of a split row, from the textures of a stage's sums. `factor` is 1 or 0.
#ifdef SUMS
#if ROW_PARTS > 1
uniform sampler2D low_sums;
#endif
#if ROW_PARTS == 3
uniform sampler2D lowest_sums;
#endif
void add_pieces(inout VALUE sum, float factor, sampler2D sums, ivec2 at) {
  VALUE pieces = factor * (fetch_texel(sums, at) PICK);
#if ROW_PARTS == 1
  sum += pieces;
#else
  VALUE error;
  sum = two_sum(sum, pieces, error);
  add_errors(error, factor * (fetch_texel(low_sums, at) PICK));
#endif
#if ROW_PARTS == 3
  lowest += factor * (fetch_texel(lowest_sums, at) PICK);
#endif
}
#endif
