/* Functions whose tables are large in the module, from JavaScript. Its results may differ from those of the C
 * library in the last digit. The library needs them for estimates, the decay of dye and splats only. */
#include <math.h>

/* Imports: library.js. */
extern double tsw_exp(double x);
extern double tsw_log(double x);
extern double tsw_pow(double x, double y);

double exp(double x) {
  return tsw_exp(x);
}

float expf(float x) {
  return (float)tsw_exp((double)x);
}

double log(double x) {
  return tsw_log(x);
}

double pow(double x, double y) {
  return tsw_pow(x, y);
}

double exp2(double x) {
  return tsw_pow(2, x);
}

double log2(double x) {
  return tsw_log(x) / 0.693147180559945309417;
}
