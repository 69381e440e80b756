/* Legend text has antialiased edges, like the text of controls, and is clipped at the picture's edges. */
#include <stdio.h>
#include <string.h>

#include "font.h"

enum { width = 60, height = 20, all = width * height };

int main(void) {
  static unsigned char picture[all + 1], same[all + 1];
  int ink = 0, soft = 0;
  picture[all] = same[all] = 77;
  if (font_write(picture, width, height, "speed \xb2", 2, 3, FONT_PIXELS)) {
    puts("no font");
    return 77;
  }
  for (int k = 0; k < all; k++) {
    ink += picture[k] > 200;
    soft += picture[k] > 0 && picture[k] <= 200;
  }
  /* Clipped at each edge. */
  const int edges[][2] = {{-30, 3}, {40, 3}, {2, -8}, {2, 12}};
  for (int k = 0; k < 4; k++) font_write(same, width, height, "speed", edges[k][0], edges[k][1], FONT_PIXELS);
  const int passed = ink > 20 && soft > 40 && picture[all] == 77 && same[all] == 77 && memchr(same, 255, all);
  printf("%d dark pixels, %d at soft edges%s\n", ink, soft, passed ? "" : ": failed");
  return !passed;
}
