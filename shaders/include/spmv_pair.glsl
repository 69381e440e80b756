// The output of a product or a residual in pairs (see include/row_sum.glsl for the sums). A residual reads b (input1).
// With B_LOWEST, its third part is input2.
layout(location = 0) out vec4 result;
layout(location = 1) out vec4 result_low;

void write(VALUE high, VALUE low) {
  VALUE low_part;
  result = widen(two_sum(high, low, low_part));
  result_low = widen(low_part);
}

void finish_pair(ivec2 i, VALUE sum) {
#ifdef RESIDUAL
  VALUE errors[3];
  VALUE high = two_sum(FETCH1(i), -sum, errors[0]);
  VALUE middle = two_sum(errors[0], -low, errors[1]);
#ifdef LOW1
  middle = two_sum(middle, FETCH_LOW1(i), errors[2]);
  VALUE low_part = (errors[1] + errors[2]) - lowest;
#else
  VALUE low_part = errors[1] - lowest;
#endif
#ifdef B_LOWEST
  low_part += FETCH2(i);
#endif
  VALUE second;
  high = two_sum(high, middle, second);
  write(high, second + low_part);
#else
  write(sum, low);
#endif
}
