#include "colours.h"

#include <math.h>
#include <stdlib.h>

typedef float anchor[3];

/* Linear interpolation between equidistant anchors. */
static void interpolate(const anchor *anchors, int count, float x, unsigned char rgb[3]) {
  const float at = fminf(fmaxf(x, 0), 1) * (float)(count - 1);
  const int low = at < (float)(count - 1) ? (int)at : count - 2;
  for (int k = 0; k < 3; k++)
    rgb[k] =
        (unsigned char)(anchors[low][k] + (at - (float)low) * (anchors[low + 1][k] - anchors[low][k]) + 0.5f);
}

void colour_diverging(float x, unsigned char rgb[3]) {
  static const anchor blue_white_red[] = {{24, 62, 140},   {62, 124, 190}, {150, 192, 222}, {240, 238, 232},
                                          {240, 178, 142}, {208, 92, 74},  {136, 22, 44}};
  interpolate(blue_white_red, 7, x, rgb);
}

void colour_sequential(float x, unsigned char rgb[3]) {
  static const anchor light_to_dark[] = {{242, 239, 220}, {250, 212, 128}, {244, 160, 74},
                                         {222, 98, 76},   {168, 48, 98},   {92, 18, 92}};
  interpolate(light_to_dark, 6, x, rgb);
}

void colours_table(unsigned char table[2][256][3]) {
  for (int k = 0; k < 256; k++) {
    colour_diverging((float)k / 255, table[0][k]);
    colour_sequential((float)k / 255, table[1][k]);
  }
}

double colours_round_up(double range) {
  static const double digits[] = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
  const double power = pow(10, floor(log10(range)));
  for (int k = 0; k < 10; k++)
    if (range <= digits[k] * power * (1 + 1e-9)) return digits[k] * power;
  return 10 * power;
}

static int compare(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

float colours_sorted(float *values, size_t count, size_t index) {
  qsort(values, count, sizeof *values, compare);
  return values[index];
}

float plot_range(const float *values, int count) {
  float sorted[PLOT_RANGE_MOST];
  int used = 0;
  for (int k = 0; k < count && used < PLOT_RANGE_MOST; k++)
    if (isfinite(values[k])) sorted[used++] = values[k];
  if (!used) return 0;
  const int others = used - (used < 20 ? 1 : used / 20);
  const float all = colours_sorted(sorted, (size_t)used, (size_t)used - 1),
              most = others > 0 ? sorted[others - 1] : all;
  return all > 2 * most && most > 0 ? 1.25F * most : all;
}
