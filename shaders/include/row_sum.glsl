// The sum of a row. With PRECISE, which goes with RESIDUAL, products and sums keep their rounding errors in a second
// number (include/exact.glsl): b - A x is the difference of nearly equal numbers when x is good, and a solver
// that begins again from it gets x right to the last bit or two.
#ifdef PRECISE
VALUE low = VALUE(0);

void add_product(inout VALUE sum, float factor, VALUE x) {
  VALUE product_error, sum_error;
  VALUE product = two_product(factor, x, product_error);
  sum = two_sum(sum, product, sum_error);
  low += sum_error + product_error;
}
#else
void add_product(inout VALUE sum, float factor, VALUE x) { sum += factor * x; }
#endif
