// Sums and products of pairs of numbers (input0, input1) with their errors. The host compares them with its own results
// to find out whether arithmetic in this context is exact.
#include "include/exact.glsl"

out vec4 result;

void main() {
  ivec2 i = texel();
  float sum_error, product_error;
  float sum = two_sum(FETCH0(i), FETCH1(i), sum_error);
  float product = two_product(FETCH0(i), FETCH1(i), product_error);
  result = vec4(sum, sum_error, product, product_error);
}
