#include "font.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *open_font(const char **path) {
  static const char *const files[] = {
      "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", /* Debian, Ubuntu: fonts-dejavu-core */
      "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf", "/usr/share/fonts/TTF/DejaVuSans.ttf",
      "/System/Library/Fonts/Supplemental/Arial.ttf", "C:/Windows/Fonts/segoeui.ttf"};
  for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
    FILE *found = fopen(files[k], "rb");
    *path = files[k];
    if (found) return found;
  }
  *path = NULL;
  return NULL;
}

const char *font_file(void) {
  const char *path;
  FILE *found = open_font(&path);
  if (found) fclose(found);
  return path;
}

#ifdef TEXSOLVE_HAVE_STB

/* Dear ImGui uses the same font reader, so the letters look the same. */
#define STBTT_STATIC
#define STB_TRUETYPE_IMPLEMENTATION
#include <stb_truetype.h>

/* Returns NULL if no font is installed. A loaded font stays loaded. */
static const stbtt_fontinfo *load(void) {
  static stbtt_fontinfo font;
  static int state; /* 0: not tried yet; 1: loaded; 2: none found */
  const char *path;
  if (state) return state == 1 ? &font : NULL;
  state = 2;
  FILE *file = open_font(&path);
  if (!file) return NULL;
  unsigned char *data = NULL;
  if (fseek(file, 0, SEEK_END) == 0) {
    const long length = ftell(file);
    rewind(file);
    data = length > 0 ? malloc((size_t)length) : NULL;
    if (data && fread(data, 1, (size_t)length, file) == (size_t)length &&
        stbtt_InitFont(&font, data, stbtt_GetFontOffsetForIndex(data, 0)))
      state = 1;
  }
  fclose(file);
  if (state == 1) return &font;
  free(data);
  return NULL;
}

static void blend(unsigned char *picture, int width, int height, const unsigned char *letter, int letter_width,
                  int letter_height, int left, int upper) {
  for (int y = 0; y < letter_height; y++)
    for (int x = 0; x < letter_width; x++) {
      const int to_x = left + x, to_y = upper + y;
      if (to_x < 0 || to_y < 0 || to_x >= width || to_y >= height) continue;
      unsigned char *to = &picture[(size_t)to_y * (size_t)width + (size_t)to_x];
      const unsigned char ink = letter[y * letter_width + x];
      if (ink > *to) *to = ink;
    }
}

int font_write(unsigned char *picture, int width, int height, const char *text, int left, int upper,
               float pixels) {
  const stbtt_fontinfo *font = load();
  if (!font) return 1;
  const float scale = stbtt_ScaleForPixelHeight(font, pixels);
  int ascent, descent, gap;
  float at = (float)left;
  stbtt_GetFontVMetrics(font, &ascent, &descent, &gap);
  const int base = upper + (int)roundf(scale * (float)ascent);
  for (; *text; text++) {
    const int symbol = (unsigned char)*text;
    int advance, bearing, letter_width, letter_height, x, y;
    unsigned char *letter = stbtt_GetCodepointBitmapSubpixel(font, scale, scale, at - floorf(at), 0, symbol,
                                                             &letter_width, &letter_height, &x, &y);
    if (letter)
      blend(picture, width, height, letter, letter_width, letter_height, (int)floorf(at) + x, base + y);
    stbtt_FreeBitmap(letter, NULL);
    stbtt_GetCodepointHMetrics(font, symbol, &advance, &bearing);
    at += scale * (float)advance;
  }
  return 0;
}

#else

int font_write(unsigned char *picture, int width, int height, const char *text, int left, int upper,
               float pixels) {
  (void)picture, (void)width, (void)height, (void)text, (void)left, (void)upper, (void)pixels;
  return 1;
}

#endif
