// The sum of a row. With PRECISE, which goes with RESIDUAL, products and sums keep their rounding errors in a second
// number (Dekker 1971, Knuth's two-sum): b - A x is the difference of nearly equal numbers when x is good, and a solver
// that begins again from it gets x right to the last bit or two.
#ifdef PRECISE
VALUE low = VALUE(0);

void add_product(inout VALUE high, float factor, VALUE x) {
  precise VALUE product = factor * x;
  precise float f = 4097.0 * factor;
  precise float f_high = f - (f - factor);
  precise float f_low = factor - f_high;
  precise VALUE v = 4097.0 * x;
  precise VALUE x_high = v - (v - x);
  precise VALUE x_low = x - x_high;
  precise VALUE product_low = ((f_high * x_high - product) + f_high * x_low + f_low * x_high) + f_low * x_low;
  precise VALUE sum = high + product;
  precise VALUE part = sum - high;
  precise VALUE sum_low = (high - (sum - part)) + (product - part);
  high = sum;
  low += sum_low + product_low;
}
#else
void add_product(inout VALUE sum, float factor, VALUE x) { sum += factor * x; }
#endif
