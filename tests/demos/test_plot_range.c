/* The height of the windows' plots of times: a frame that compiled shaders must not flatten the others. */
#include <math.h>

#include "colours.h"
#include "test.h"

static void plot_ranges(void) {
  float values[PLOT_RANGE_MOST] = {0};
  CHECK(plot_range(values, 0) == 0);
  values[0] = 3000;
  CHECK(plot_range(values, 1) == 3000);
  for (int k = 1; k < PLOT_RANGE_MOST; k++) values[k] = 10 + (float)(k % 5);
  for (int count = 2; count <= PLOT_RANGE_MOST; count++) {
    const float range = plot_range(values, count);
    CHECK(range >= 11 && range <= 1.25F * 14);
  }
  /* A frame that is slow every third time is shown. */
  for (int k = 0; k < 60; k++) values[k] = k % 3 ? 10 : 100;
  CHECK(plot_range(values, 60) == 100);
  /* No outliers. */
  for (int k = 0; k < 60; k++) values[k] = 10 + 0.1F * (float)k;
  CHECK(plot_range(values, 60) == values[59]);
  values[3] = NAN;
  values[4] = INFINITY;
  CHECK(plot_range(values, 60) == values[59]);
}

TEST_MAIN_ON_HOST(CASES(plot_ranges))
