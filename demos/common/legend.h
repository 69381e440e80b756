/* The legend of a picture: a colour bar with numbers. */
#ifndef LEGEND_H
#define LEGEND_H

typedef struct legend legend;

typedef struct legend_text {
  /* up to 11 characters: lower-case letters, digits, /x+-. and ^ for a superscript 2 */
  const char *title, *unit;
  double low, high;
  int scale;    /* row of the colour texture; 0: the lower, 1: the upper */
  int is_power; /* low and high are exponents of 2; the labels show the powers: 1/4, 1, 4 */
} legend_text;

/* Functions that return text return NULL on success, or the reason of a failure. */
const char *legend_create(legend **made);
void legend_destroy(legend **made);
/* The texture with both colour maps, x from 0 to 1. The legend owns it. */
unsigned legend_colours(const legend *l);

/* Height in pixels that the legend takes in a rectangle of this size. */
int legend_room(int width, int height);
/* Draws into the lower right corner of a rectangle of the framebuffer. */
const char *legend_draw(legend *l, const legend_text *text, int x, int y, int width, int height);

#endif
