/* The legend in a picture: a bar of colours with numbers. */
#ifndef LEGEND_H
#define LEGEND_H

typedef struct legend legend;

typedef struct legend_text {
  const char *title, *unit; /* up to 11 letters, small ones, figures and /x+-. and a raised 2, written ^ */
  double low, high;
  int scale;    /* 0: the lower row of the colours' texture, 1: the upper one */
  int is_power; /* low and high are powers of 2, and what they come to is written: 1/4, 1, 4 */
} legend_text;

/* Return NULL, or why they failed. */
const char *legend_create(legend **made);
void legend_destroy(legend **made);
/* The texture of both scales of colours, from 0 to 1; the legend's. */
unsigned legend_colours(const legend *l);

/* How many pixels the legend takes of a rectangle's height. */
int legend_room(int width, int height);
/* Into the lower right corner of a rectangle of the framebuffer. */
const char *legend_draw(legend *l, const legend_text *text, int x, int y, int width, int height);

#endif
