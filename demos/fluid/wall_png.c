/* Writes a PNG with transparency from text, for the tests of fluid: wall_png FILE LINE... A character is a
 * pixel: '#' is black, '+' is grey, 'b' and 'w' are transparent black and white, and all others are white. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

/* Returns the brightness of a pixel, and its alpha. */
static unsigned char shade(char c, unsigned char *alpha) {
  *alpha = c == 'b' || c == 'w' ? 0 : 255;
  return c == '#' || c == 'b' ? 0 : c == '+' ? 140 : 255;
}

int main(int argc, char **argv) {
  if (argc < 3) return 1;
  const size_t width = strlen(argv[2]), height = (size_t)argc - 2;
  png_image png = {.version = PNG_IMAGE_VERSION,
                   .width = (png_uint_32)width,
                   .height = (png_uint_32)height,
                   .format = PNG_FORMAT_RGBA};
  unsigned char *pixels = calloc(width * height, 4);
  if (!pixels) return 1;
  for (size_t y = 0; y < height; y++)
    for (size_t x = 0; x < width && argv[y + 2][x]; x++) {
      unsigned char *rgba = pixels + 4 * (y * width + x);
      memset(rgba, shade(argv[y + 2][x], &rgba[3]), 3);
    }
  const int written = png_image_write_to_file(&png, argv[1], 0, pixels, 0, NULL);
  if (!written) fprintf(stderr, "wall_png: %s\n", png.message);
  free(pixels);
  return !written;
}
