/* A colour map from violet-black through red and orange to light yellow: lightness of CIELAB a straight line,
 * hue and chroma smooth curves, chroma reduced where the screen has no such colour. */
#include <math.h>

#include "heat.h"

static const double pi = 3.14159265358979323846;

static double cube_or_line(double t) {
  return t > 6.0 / 29 ? t * t * t : 3 * (6.0 / 29) * (6.0 / 29) * (t - 4.0 / 29);
}

/* CIELAB (D65) to linear sRGB, per IEC 61966-2-1. Returns whether the colour exists on a screen. */
static int linear_rgb(double lightness, double chroma, double hue, double rgb[3]) {
  const double fy = (lightness + 16) / 116;
  const double x = 0.95047 * cube_or_line(fy + chroma * cos(hue * pi / 180) / 500);
  const double y = cube_or_line(fy);
  const double z = 1.08883 * cube_or_line(fy - chroma * sin(hue * pi / 180) / 200);
  rgb[0] = 3.2406 * x - 1.5372 * y - 0.4986 * z;
  rgb[1] = -0.9689 * x + 1.8758 * y + 0.0415 * z;
  rgb[2] = 0.0557 * x - 0.2040 * y + 1.0570 * z;
  int inside = 1;
  for (int c = 0; c < 3; c++) inside = inside && rgb[c] >= 0 && rgb[c] <= 1;
  return inside;
}

static unsigned char encode(double linear) {
  const double v = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
  return (unsigned char)(255 * fmin(fmax(v, 0), 1) + 0.5);
}

void colour_table(unsigned char colours[colour_count][3]) {
  for (int k = 0; k < colour_count; k++) {
    const double t = (double)k / (colour_count - 1);
    const double lightness = 7 + 88 * t, hue = 292 + 164 * pow(t, 0.85);
    double least = 0, most = 26 + 130 * t * (1 - t) + 24 * t, rgb[3];
    if (!linear_rgb(lightness, most, hue, rgb)) {
      for (int step = 0; step < 30; step++) {
        const double middle = 0.5 * (least + most);
        if (linear_rgb(lightness, middle, hue, rgb))
          least = middle;
        else
          most = middle;
      }
      linear_rgb(lightness, least, hue, rgb);
    }
    for (int c = 0; c < 3; c++) colours[k][c] = encode(rgb[c]);
  }
}
