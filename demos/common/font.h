/* The font of controls and legends. */
#ifndef FONT_H
#define FONT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Of controls, on a display of scale 1. */
enum { FONT_PIXELS = 13 };

/* The file with its outlines; NULL: none is installed. */
const char *font_file(void);

/* Writes a line of Latin-1 characters into a picture of one byte a pixel, 255 where there is ink, with its
 * upper left corner at (left, upper); what does not fit is cut off. `pixels`: the height of a line. Returns 0,
 * or 1 if there is no font. */
int font_write(unsigned char *picture, int width, int height, const char *text, int left, int upper,
               float pixels);

#ifdef __cplusplus
}
#endif
#endif
