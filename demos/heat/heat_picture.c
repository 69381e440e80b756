#include "heat.h"

#include <math.h>

static const double pi = 3.14159265358979323846;
static const float paper[3] = {250, 249, 246}, ink[3] = {52, 50, 58};

/* ---- Colours ----
 * A colour map from violet-black through red and orange to light yellow. Its lightness in CIELAB is linear, and
 * hue and chroma are smooth curves. Chroma is reduced if the screen cannot show the colour. */

static double cube_or_line(double t) {
  return t > 6.0 / 29 ? t * t * t : 3 * (6.0 / 29) * (6.0 / 29) * (t - 4.0 / 29);
}

/* Converts CIELAB (D65) to linear sRGB, per IEC 61966-2-1. Returns 1 if sRGB has the colour. */
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

/* ---- Pixels ---- */

static void blend(unsigned char *pixel, const float colour[3], float coverage) {
  for (int c = 0; c < 3; c++)
    pixel[c] = (unsigned char)((float)pixel[c] + coverage * (colour[c] - (float)pixel[c]) + 0.5f);
}

static float clamp(float value, float least, float most) {
  return value < least ? least : value > most ? most : value;
}

rectangle plate_rectangle(int width, int height, float *unit) {
  const float u = fminf((float)width / picture_width, (float)height / picture_height);
  /* Round to whole pixels for sharp edges. */
  const float left = floorf(0.5f * ((float)width - picture_width * u) + 44 * u);
  const float top = floorf(0.5f * ((float)height - picture_height * u) + 44 * u);
  *unit = u;
  return (rectangle){left, top, floorf(768 * u), floorf(512 * u)};
}

/* ---- The legend: digits are drawn with strokes, each an elliptic arc or a line ---- */

/* Coordinates are in a box 0.56 wide and 1 high, y downwards. Angles are in degrees, clockwise from the right.
 * A line has rx = ry = -1 and goes from (cx, cy) to (from, to). */
typedef struct stroke {
  char symbol;
  float cx, cy, rx, ry, from, to;
} stroke;

static const stroke strokes[] = {
    {'0', 0.28f, 0.5f, 0.28f, 0.5f, 0, 360},     {'1', 0.1f, 0.2f, -1, -1, 0.34f, 0},
    {'1', 0.34f, 0, -1, -1, 0.34f, 1},           {'2', 0.28f, 0.28f, 0.27f, 0.28f, 190, 395},
    {'2', 0.501f, 0.441f, -1, -1, 0, 1},         {'2', 0, 1, -1, -1, 0.56f, 1},
    {'4', 0.42f, 1, -1, -1, 0.42f, 0},           {'4', 0.42f, 0, -1, -1, 0, 0.7f},
    {'4', 0, 0.7f, -1, -1, 0.57f, 0.7f},         {'6', 0.28f, 0.68f, 0.28f, 0.32f, 0, 360},
    {'6', 0.46f, 0.68f, 0.46f, 0.68f, 180, 266}, {'8', 0.28f, 0.24f, 0.23f, 0.24f, 0, 360},
    {'8', 0.28f, 0.74f, 0.28f, 0.26f, 0, 360},   {'C', 0.36f, 0.5f, 0.36f, 0.5f, 50, 310},
    {'o', 0.13f, 0.12f, 0.12f, 0.12f, 0, 360}, /* the degree sign */
};

static float distance_to_segment(float px, float py, float ax, float ay, float bx, float by) {
  const float dx = bx - ax, dy = by - ay, length = dx * dx + dy * dy;
  const float t = length > 0 ? clamp(((px - ax) * dx + (py - ay) * dy) / length, 0, 1) : 0;
  return hypotf(px - ax - t * dx, py - ay - t * dy);
}

static float distance_to_stroke(const stroke *s, float x, float y) {
  if (s->rx < 0) return distance_to_segment(x, y, s->cx, s->cy, s->from, s->to);
  enum { pieces = 40 };
  float nearest = INFINITY;
  for (int k = 0; k < pieces; k++) {
    const float a = (s->from + (s->to - s->from) * (float)k / pieces) * (float)pi / 180;
    const float b = (s->from + (s->to - s->from) * (float)(k + 1) / pieces) * (float)pi / 180;
    nearest = fminf(nearest, distance_to_segment(x, y, s->cx + s->rx * cosf(a), s->cy + s->ry * sinf(a),
                                                 s->cx + s->rx * cosf(b), s->cy + s->ry * sinf(b)));
  }
  return nearest;
}

static void draw_symbol(image *picture, char symbol, float left, float top, float height) {
  const float thickness = 0.12f * height;
  for (int y = (int)(top - 2); y < (int)(top + height + 3); y++)
    for (int x = (int)(left - 2); x < (int)(left + 0.75f * height + 3); x++) {
      if (x < 0 || y < 0 || x >= picture->width || y >= picture->height) continue;
      float nearest = INFINITY;
      for (size_t k = 0; k < sizeof strokes / sizeof strokes[0]; k++)
        if (strokes[k].symbol == symbol)
          nearest = fminf(nearest, height * distance_to_stroke(&strokes[k], ((float)x + 0.5f - left) / height,
                                                               ((float)y + 0.5f - top) / height));
      blend(&picture->rgb[3 * ((size_t)y * (size_t)picture->width + (size_t)x)], ink,
            clamp(0.5f * thickness + 0.5f - nearest, 0, 1));
    }
}

static void draw_text(image *picture, const char *text, float left, float middle, float height) {
  for (; *text; text++) {
    draw_symbol(picture, *text, left, middle - 0.5f * height, height);
    left += height * (*text == 'o' ? 0.42f : 0.8f);
  }
}

static void fill_rectangle(image *picture, rectangle r, const float colour[3]) {
  for (int y = (int)fmaxf(r.y, 0); y < (int)(r.y + r.height) && y < picture->height; y++)
    for (int x = (int)fmaxf(r.x, 0); x < (int)(r.x + r.width) && x < picture->width; x++)
      blend(&picture->rgb[3 * ((size_t)y * (size_t)picture->width + (size_t)x)], colour, 1);
}

void draw_paper(image *picture) {
  unsigned char colours[colour_count][3];
  float unit;
  const rectangle p = plate_rectangle(picture->width, picture->height, &unit);
  const rectangle bar = {floorf(p.x + p.width + 28 * unit), p.y, floorf(16 * unit), p.height};
  colour_table(colours);
  fill_rectangle(picture, (rectangle){0, 0, (float)picture->width, (float)picture->height}, paper);
  for (int y = 0; y < (int)bar.height; y++) {
    const unsigned char *c = colours[(int)((1 - ((float)y + 0.5f) / bar.height) * (colour_count - 1) + 0.5f)];
    const float colour[3] = {c[0], c[1], c[2]};
    fill_rectangle(picture, (rectangle){bar.x, bar.y + (float)y, bar.width, 1}, colour);
  }
  static const char *const labels[] = {"0", "20", "40", "60", "80", "100oC"};
  for (int k = 0; k < 6; k++) {
    const float middle = floorf(bar.y + (bar.height - 1) * (1 - (float)k / 5)) + 0.5f;
    fill_rectangle(
        picture, (rectangle){bar.x + bar.width, middle - 0.5f, floorf(5 * unit), fmaxf(floorf(unit), 1)}, ink);
    draw_text(picture, labels[k], bar.x + bar.width + 10 * unit, middle, 11 * unit);
  }
}

/* ---- The plate, with the same steps as in heat.frag ---- */

/* The temperatures of the four cells around a point. Cells in a hole get the mean of the others. Returns the
 * number of cells outside holes. */
static int fetch_corners(const plate *p, const float *temperatures, int i, int j, float corner[4]) {
  float sum = 0;
  int present = 0, known[4];
  for (int k = 0; k < 4; k++) {
    const int32_t unknown = p->index[(j + k / 2) * p->width + i + k % 2];
    known[k] = unknown >= 0;
    corner[k] = known[k] ? temperatures[unknown] : 0;
    sum += corner[k];
    present += known[k];
  }
  for (int k = 0; k < 4; k++)
    if (!known[k] && present) corner[k] = sum / (float)present;
  return present;
}

static void shade(unsigned char *pixel, const plate *p, const float *temperatures,
                  unsigned char colours[colour_count][3], float x, float y, float pixels_per_cell) {
  static const float grey[3] = {206, 206, 208}, rim[3] = {70, 68, 76};
  const int i = (int)clamp(floorf(x), 0, (float)p->width - 2),
            j = (int)clamp(floorf(y), 0, (float)p->height - 2);
  const float fx = x - (float)i, fy = y - (float)j;
  float t[4];
  if (fetch_corners(p, temperatures, i, j, t)) {
    const float below = t[0] + fx * (t[1] - t[0]), above = t[2] + fx * (t[3] - t[2]);
    const float temperature = below + fy * (above - below);
    const float slope_x = (1 - fy) * (t[1] - t[0]) + fy * (t[3] - t[2]), slope_y = above - below;

    const float v = clamp(temperature / hottest, 0, 1) * (colour_count - 1);
    const int low = (int)fminf(v, colour_count - 2);
    float colour[3];
    for (int c = 0; c < 3; c++)
      colour[c] = (float)colours[low][c] + (v - (float)low) * (float)(colours[low + 1][c] - colours[low][c]);
    blend(pixel, colour, 1);

    /* Isolines every ten degrees. They fade before they merge. */
    const float level = temperature / 10, nearest = floorf(level + 0.5f);
    const float lines_per_pixel = hypotf(slope_x, slope_y) / 10 / pixels_per_cell;
    const float away = fabsf(level - nearest) / fmaxf(lines_per_pixel, 1e-6f);
    const float strength =
        0.5f * clamp(1.2f - away, 0, 1) * clamp((1 / fmaxf(lines_per_pixel, 1e-6f) - 4) / 6, 0, 1);
    static const float white[3] = {255, 255, 255}, black[3] = {0, 0, 0};
    if (nearest > 0.5f && nearest < 9.5f) blend(pixel, nearest < 5.5f ? white : black, strength);
  }
  for (int k = 0; k < plate_holes; k++) {
    const plate_hole *hole = &p->holes[k];
    /* The cells around a hole form a staircase. A slightly larger circle covers it. */
    const float inside = (hole->radius + 0.8f - hypotf(x - hole->x, y - hole->y)) * pixels_per_cell;
    blend(pixel, rim, clamp(inside + 0.5f, 0, 1));
    blend(pixel, grey, clamp(inside - 1.2f, 0, 1));
  }
}

void draw_plate(image *picture, const plate *p, const float *temperatures) {
  unsigned char colours[colour_count][3];
  float unit;
  const rectangle r = plate_rectangle(picture->width, picture->height, &unit);
  colour_table(colours);
  for (int row = (int)r.y; row < (int)(r.y + r.height) && row < picture->height; row++)
    for (int column = (int)r.x; column < (int)(r.x + r.width) && column < picture->width; column++) {
      const float x = ((float)column + 0.5f - r.x) / r.width, y = ((float)row + 0.5f - r.y) / r.height;
      shade(&picture->rgb[3 * ((size_t)row * (size_t)picture->width + (size_t)column)], p, temperatures,
            colours, x * (float)(p->width - 1), (1 - y) * (float)(p->height - 1),
            r.height / (float)(p->height - 1));
    }
}
