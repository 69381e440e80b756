#include <GL/glew.h>

#include "legend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "legend_shaders.h"
#include "colours.h"
#include "font.h"
#include "view_gl.h"

struct legend {
  unsigned program, colours, text, empty_array;
  char written[64]; /* the text as written */
};

/* ---- A bitmap font for systems without a font file: five bits per row, the leftmost bit highest ---- */

enum { letter_width = 5, letter_height = 7, advance = 6 };

typedef struct letter {
  char symbol;
  unsigned char rows[letter_height];
} letter;

static const letter letters[] = {
    {'0', {14, 17, 17, 17, 17, 17, 14}}, {'1', {4, 12, 4, 4, 4, 4, 14}},
    {'2', {14, 17, 1, 2, 4, 8, 31}},     {'3', {14, 17, 1, 6, 1, 17, 14}},
    {'4', {2, 6, 10, 18, 31, 2, 2}},     {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}},   {'7', {31, 1, 2, 4, 8, 8, 8}},
    {'8', {14, 17, 17, 14, 17, 17, 14}}, {'9', {14, 17, 17, 15, 1, 2, 12}},
    {'.', {0, 0, 0, 0, 0, 12, 12}},      {'-', {0, 0, 0, 14, 0, 0, 0}},
    {'+', {0, 4, 4, 31, 4, 4, 0}},       {'/', {1, 1, 2, 4, 8, 16, 16}},
    {'a', {0, 0, 14, 1, 15, 17, 15}},    {'c', {0, 0, 14, 16, 16, 17, 14}},
    {'d', {1, 1, 13, 19, 17, 19, 13}},   {'e', {0, 0, 14, 17, 31, 16, 14}},
    {'g', {0, 15, 17, 17, 15, 1, 14}},   {'h', {16, 16, 22, 25, 17, 17, 17}},
    {'i', {4, 0, 12, 4, 4, 4, 14}},      {'l', {12, 4, 4, 4, 4, 4, 14}},
    {'m', {0, 0, 26, 21, 21, 21, 21}},   {'n', {0, 0, 22, 25, 17, 17, 17}},
    {'o', {0, 0, 14, 17, 17, 17, 14}},   {'p', {0, 0, 30, 17, 30, 16, 16}},
    {'s', {0, 0, 15, 16, 14, 1, 30}},    {'y', {0, 0, 17, 17, 15, 1, 14}},
    {'^', {6, 9, 2, 4, 15, 0, 0}},       {'r', {0, 0, 22, 25, 16, 16, 16}},
    {'t', {8, 8, 28, 8, 8, 9, 6}},       {'u', {0, 0, 17, 17, 17, 19, 13}},
    {'v', {0, 0, 17, 17, 17, 10, 4}},    {'x', {0, 0, 17, 10, 4, 10, 17}},
};

/* The panel's geometry at scale 1, from the upper left. */
enum { panel_width = 98, panel_height = 124, bar_left = 8, bar_right = 22, bar_upper = 44, bar_lower = 114 };
enum { line = FONT_PIXELS + 2 };

/* A picture of the panel's text. */
typedef struct dots {
  unsigned char *ink;
  float scale;
  int width, height;
} dots;

static int scaled(float scale, int length) {
  return (int)lroundf(scale * (float)length);
}

static void write_plainly(const dots *d, const char *text, int left, int upper) {
  const int size = (int)d->scale, below = ((int)(d->scale * FONT_PIXELS) - size * letter_height) / 2;
  for (; *text; text++, left += size * advance)
    for (size_t k = 0; k < sizeof letters / sizeof letters[0]; k++)
      for (int y = 0; letters[k].symbol == *text && y < size * letter_height; y++)
        for (int x = 0; x < size * letter_width && left + x < d->width; x++)
          if (letters[k].rows[y / size] >> (letter_width - 1 - x / size) & 1)
            d->ink[(upper + below + y) * d->width + left + x] = 255;
}

static void write_text(const dots *d, const char *text, int left, int upper) {
  const int x = scaled(d->scale, left), y = scaled(d->scale, upper);
  char latin[40];
  snprintf(latin, sizeof latin, "%s", text);
  for (char *c = latin; *c; c++)
    if (*c == '^') *c = (char)0xb2;
  if (font_write(d->ink, d->width, d->height, latin, x, y, d->scale * FONT_PIXELS))
    write_plainly(d, text, x, y);
}

static void write_number(const dots *d, double value, int is_power, int upper) {
  char text[24];
  const double factor = exp2(fabs(value));
  if (is_power)
    snprintf(text, sizeof text, factor < 999.5 ? "%s%.3g" : "%s%.0e", value < 0 ? "1/" : "", factor);
  else
    snprintf(text, sizeof text, "%.3g", value);
  write_text(d, text, bar_right + 6, upper);
}

static const char *write_legend(legend *l, const legend_text *text, float scale) {
  char wanted[sizeof l->written];
  const int is_power = text->is_power;
  snprintf(wanted, sizeof wanted, "%s|%s|%.3g|%.3g|%d|%g", text->title, text->unit, text->low, text->high,
           is_power, (double)scale);
  if (l->text && !strcmp(l->written, wanted)) return NULL;
  dots d = {.scale = scale, .width = scaled(scale, panel_width), .height = scaled(scale, panel_height)};
  d.ink = calloc((size_t)d.width, (size_t)d.height);
  if (!d.ink) return "out of memory";
  write_text(&d, text->title, bar_left, 7);
  write_text(&d, text->unit, bar_left, 7 + line);
  write_number(&d, text->high, is_power, bar_upper - 3);
  write_number(&d, 0.5 * (text->low + text->high), is_power, (bar_upper + bar_lower - FONT_PIXELS) / 2);
  write_number(&d, text->low, is_power, bar_lower - FONT_PIXELS + 3);
  glDeleteTextures(1, &l->text);
  l->text = view_gl_texture(GL_NEAREST);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, d.width, d.height, 0, GL_RED, GL_UNSIGNED_BYTE, d.ink);
  free(d.ink);
  memcpy(l->written, wanted, sizeof wanted);
  return view_gl_check("the legend's text");
}

/* ---- The panel ---- */

const char *legend_create(legend **made) {
  static const char *const samplers[] = {"colours", "text", NULL};
  unsigned char table[2][256][3];
  legend *l = *made = calloc(1, sizeof *l);
  if (!l) return "out of memory";
  colours_table(table);
  l->colours = view_gl_texture(GL_LINEAR);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, 256, 2, 0, GL_RGB, GL_UNSIGNED_BYTE, table);
  return view_gl_program("", VIEW_GL_SHADER(whole, vert), VIEW_GL_SHADER(legend, frag), samplers, &l->program);
}

void legend_destroy(legend **made) {
  legend *l = *made;
  if (!l) return;
  glDeleteProgram(l->program);
  glDeleteTextures(1, &l->text);
  glDeleteTextures(1, &l->colours);
  glDeleteVertexArrays(1, &l->empty_array);
  free(l);
  *made = NULL;
}

unsigned legend_colours(const legend *l) {
  return l->colours;
}

static float choose_scale(int width, int height) {
  return fmaxf(1, (float)(width < height ? width : height) / 600);
}

int legend_room(int width, int height) {
  return scaled(choose_scale(width, height), panel_height + 16);
}

const char *legend_draw(legend *l, const legend_text *text, int x, int y, int width, int height) {
  const float s = choose_scale(width, height);
  const int panel_x = x + width - scaled(s, panel_width + 8), panel_y = y + scaled(s, 8);
  const char *why = write_legend(l, text, s);
  if (why) return why;
  const unsigned textures[] = {l->colours, l->text}, program = l->program;
  view_gl_bind(textures, 2);
  glUseProgram(program);
  glUniform1i(view_gl_uniform(program, "scale"), text->scale);
  glUniform2f(view_gl_uniform(program, "panel"), (float)scaled(s, panel_width), (float)scaled(s, panel_height));
  glUniform4f(view_gl_uniform(program, "bar"), s * bar_left, s * (panel_height - bar_lower), s * bar_right,
              s * (panel_height - bar_upper));
  glViewport(panel_x, panel_y, scaled(s, panel_width), scaled(s, panel_height));
  glEnable(GL_BLEND);
  glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE);
  glBlendEquation(GL_FUNC_ADD);
  view_gl_draw_vertices(&l->empty_array, GL_TRIANGLES, 3);
  glDisable(GL_BLEND);
  return view_gl_check("drawing the legend");
}
