/* The font of controls and legends. */
#ifndef FONT_H
#define FONT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Font size of controls on a display of scale 1. */
enum { FONT_PIXELS = 13 };

/* Path of the font file, or NULL if none is installed. */
const char *font_file(void);

/* Draws a line of Latin-1 text into a picture with one byte per pixel; 255 is full ink. The upper left corner
 * is at (left, upper), and the text is clipped at the edges. `pixels` is the line height. Returns 0, or 1 if
 * there is no font. */
int font_write(unsigned char *picture, int width, int height, const char *text, int left, int upper,
               float pixels);

#ifdef __cplusplus
}
#endif
#endif
