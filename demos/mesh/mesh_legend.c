#include <GL/glew.h>

#include "mesh_legend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh_view_shaders.h"
#include "view_gl.h"

struct mesh_legend {
  unsigned program, colours, text, empty_array;
  int drawn_for; /* what the text says */
  double range;
};

/* ---- Letters: five bits a row, the left one highest ---- */

enum { letter_width = 5, letter_height = 7, advance = 6, line_height = 10 };

typedef struct letter {
  char symbol;
  unsigned char rows[letter_height];
} letter;

static const letter letters[] = {
    {'0', {14, 17, 17, 17, 17, 17, 14}}, {'1', {4, 12, 4, 4, 4, 4, 14}},    {'2', {14, 17, 1, 2, 4, 8, 31}},
    {'3', {14, 17, 1, 6, 1, 17, 14}},    {'4', {2, 6, 10, 18, 31, 2, 2}},   {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}},   {'7', {31, 1, 2, 4, 8, 8, 8}},     {'8', {14, 17, 17, 14, 17, 17, 14}},
    {'9', {14, 17, 17, 15, 1, 2, 12}},   {'.', {0, 0, 0, 0, 0, 12, 12}},    {'-', {0, 0, 0, 14, 0, 0, 0}},
    {'+', {0, 4, 4, 31, 4, 4, 0}},       {'/', {1, 1, 2, 4, 8, 16, 16}},    {'a', {0, 0, 14, 1, 15, 17, 15}},
    {'c', {0, 0, 14, 16, 16, 17, 14}},   {'d', {1, 1, 13, 19, 17, 19, 13}}, {'e', {0, 0, 14, 17, 31, 16, 14}},
    {'g', {0, 15, 17, 17, 15, 1, 14}},   {'i', {4, 0, 12, 4, 4, 4, 14}},    {'l', {12, 4, 4, 4, 4, 4, 14}},
    {'m', {0, 0, 26, 21, 21, 21, 21}},   {'n', {0, 0, 22, 25, 17, 17, 17}}, {'o', {0, 0, 14, 17, 17, 17, 14}},
    {'r', {0, 0, 22, 25, 16, 16, 16}},   {'t', {8, 8, 28, 8, 8, 9, 6}},     {'u', {0, 0, 17, 17, 17, 19, 13}},
    {'v', {0, 0, 17, 17, 17, 10, 4}},    {'x', {0, 0, 17, 10, 4, 10, 17}},
};

/* The panel at scale 1, from the upper left. */
enum { panel_width = 72, panel_height = 98, bar_left = 6, bar_right = 18, bar_upper = 29, bar_lower = 91 };

static void write_text(unsigned char *dots, const char *text, int left, int upper) {
  for (; *text; text++, left += advance)
    for (size_t k = 0; k < sizeof letters / sizeof letters[0]; k++)
      for (int y = 0; letters[k].symbol == *text && y < letter_height; y++)
        for (int x = 0; x < letter_width && left + x < panel_width; x++)
          if (letters[k].rows[y] >> (letter_width - 1 - x) & 1)
            dots[(upper + y) * panel_width + left + x] = 255;
}

static void write_number(unsigned char *dots, double value, int upper) {
  char text[16];
  snprintf(text, sizeof text, "%.3g", value);
  write_text(dots, text, bar_right + 5, upper);
}

static const char *write_legend(mesh_legend *legend, int coloured_by, double range) {
  unsigned char dots[panel_width * panel_height] = {0};
  if (legend->text && legend->drawn_for == coloured_by && legend->range == range) return NULL;
  write_text(dots, coloured_by == 1 ? "curvature" : "moved", bar_left, 6);
  write_text(dots, coloured_by == 1 ? "x diagonal" : "/ diagonal", bar_left, 6 + line_height);
  write_number(dots, range, bar_upper - 1);
  write_number(dots, coloured_by == 1 ? 0 : 0.5 * range, (bar_upper + bar_lower - letter_height) / 2);
  write_number(dots, coloured_by == 1 ? -range : 0, bar_lower - letter_height + 1);
  glDeleteTextures(1, &legend->text);
  legend->text = view_gl_texture(GL_NEAREST);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, panel_width, panel_height, 0, GL_RED, GL_UNSIGNED_BYTE, dots);
  legend->drawn_for = coloured_by;
  legend->range = range;
  return view_gl_check("the legend's text");
}

/* ---- The panel ---- */

const char *mesh_legend_create(unsigned colours, mesh_legend **made) {
  static const char *const samplers[] = {"colours", "text", NULL};
  mesh_legend *legend = *made = calloc(1, sizeof *legend);
  if (!legend) return "out of memory";
  legend->colours = colours;
  const char *why = view_gl_program("", (view_gl_source){"whole.vert", whole_vert},
                                    (view_gl_source){"legend.frag", legend_frag}, &legend->program);
  if (why) return why;
  view_gl_samplers(legend->program, samplers);
  glGenVertexArrays(1, &legend->empty_array);
  return NULL;
}

void mesh_legend_destroy(mesh_legend **made) {
  mesh_legend *legend = *made;
  if (!legend) return;
  glDeleteProgram(legend->program);
  glDeleteTextures(1, &legend->text);
  glDeleteVertexArrays(1, &legend->empty_array);
  free(legend);
  *made = NULL;
}

const char *mesh_legend_draw(mesh_legend *legend, int coloured_by, double range, int width, int height) {
  const int smaller = width < height ? width : height, scale = smaller < 500 ? 1 : (smaller + 200) / 400;
  const int panel_x = width - scale * (panel_width + 8), panel_y = scale * 8;
  const char *why = write_legend(legend, coloured_by, range);
  if (why) return why;
  const unsigned textures[] = {legend->colours, legend->text}, program = legend->program;
  const float s = (float)scale;
  view_gl_bind(textures, 2);
  glUseProgram(program);
  glUniform1i(view_gl_uniform(program, "coloured_by"), coloured_by);
  glUniform2f(view_gl_uniform(program, "panel"), s * panel_width, s * panel_height);
  glUniform4f(view_gl_uniform(program, "bar"), s * bar_left, s * (panel_height - bar_lower), s * bar_right,
              s * (panel_height - bar_upper));
  glViewport(panel_x, panel_y, scale * panel_width, scale * panel_height);
  glEnable(GL_BLEND);
  glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE);
  glBlendEquation(GL_FUNC_ADD);
  glBindVertexArray(legend->empty_array);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glBindVertexArray(0);
  glDisable(GL_BLEND);
  return view_gl_check("drawing the legend");
}
