/* Writes a PNG from text: wall_png FILE LINE..., a pixel a character, black for '#', grey for '+', else white.
 * For test_fluid. */
#include <stdio.h>
#include <string.h>

#include "png_image.h"

int main(int argc, char **argv) {
  image picture;
  char why[200];
  if (argc < 3 || image_create(&picture, (int)strlen(argv[2]), argc - 2)) return 1;
  for (int y = 0; y < picture.height; y++)
    for (int x = 0; x < picture.width && argv[y + 2][x]; x++) {
      const char c = argv[y + 2][x];
      memset(&picture.rgb[3 * ((size_t)y * (size_t)picture.width + (size_t)x)],
             c == '#'   ? 0
             : c == '+' ? 140
                        : 255,
             3);
    }
  const int failed = png_image_save(argv[1], &picture, why, sizeof why);
  if (failed) fprintf(stderr, "wall_png: %s\n", why);
  image_destroy(&picture);
  return failed != 0;
}
