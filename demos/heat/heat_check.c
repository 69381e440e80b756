/* heat_check A.png [B.png]: checks that A is a picture of the plate as heat draws it, and that B looks the
 * same. Prints the first difference and exits with 1 if not. */
#include <stdio.h>
#include <stdlib.h>

#include "png_image.h"

static int fail(const char *path, const char *why) {
  fprintf(stderr, "%s: %s\n", path, why);
  return 1;
}

static const unsigned char *at(const image *p, int x, int y) {
  return p->rgb + 3 * ((size_t)y * (size_t)p->width + (size_t)x);
}

static double brightness(const image *p, int x, int y) {
  const unsigned char *c = at(p, x, y);
  return (c[0] + c[1] + c[2]) / 3.0;
}

/* The plate is 768 x 512 pixels from (44, 44). The holes' centres are at 43 % and 102 % of its height from its
 * left edge. */
static const char *look(const image *p) {
  if (p->width != 936 || p->height != 600) return "not 936 x 600 pixels";
  if (brightness(p, 5, 5) < 240) return "the paper is not light";
  if (brightness(p, 428, 47) < 200) return "the upper edge is not hot";
  if (brightness(p, 428, 553) > 40) return "the lower edge is not cold";
  if (brightness(p, 46, 400) > 40 || brightness(p, 809, 400) > 40) return "the edges at the sides are not cold";
  const int holes[2][2] = {{44 + 220, 44 + 307}, {44 + 522, 44 + 225}};
  for (int k = 0; k < 2; k++) {
    const unsigned char *c = at(p, holes[k][0], holes[k][1]);
    if (abs(c[0] - 206) > 2 || abs(c[1] - 206) > 2 || abs(c[2] - 208) > 2) return "a hole is not grey";
  }
  if (brightness(p, holes[0][0] - 76, holes[0][1]) < 180) return "the heated hole's rim is not hot";
  /* Below the middle of the upper edge, temperature falls from top to bottom, apart from the isolines. */
  double above = 255;
  for (int y = 50; y < 550; y += 50) {
    double mean = 0;
    for (int k = 0; k < 40; k++) mean += brightness(p, 395, y + k) / 40;
    if (mean > above + 1) return "it does not get colder downwards between the holes";
    above = mean;
  }
  return NULL;
}

static const char *compare(const image *a, const image *b) {
  if (a->width != b->width || a->height != b->height) return "another size";
  const size_t count = 3 * (size_t)a->width * (size_t)a->height;
  double mean = 0;
  size_t far = 0;
  for (size_t k = 0; k < count; k++) {
    const int difference = abs(a->rgb[k] - b->rgb[k]);
    mean += difference / (double)count;
    far += difference > 16;
  }
  static char why[100];
  snprintf(why, sizeof why, "differs by %.3f of 255 on average, and by more than 16 in %zu of %zu numbers",
           mean, far, count);
  return mean > 0.25 || far > count / 500 ? why : NULL;
}

int main(int argc, char **argv) {
  image pictures[2];
  char why[256];
  for (int k = 0; k + 1 < argc && k < 2; k++) {
    if (png_image_load(argv[k + 1], &pictures[k], why, sizeof why)) return fail(argv[k + 1], why);
    const char *wrong = look(&pictures[k]);
    if (wrong) return fail(argv[k + 1], wrong);
  }
  if (argc < 2) return fail("usage", "heat_check A.png [B.png]");
  const char *wrong = argc > 2 ? compare(&pictures[0], &pictures[1]) : NULL;
  for (int k = 0; k + 1 < argc && k < 2; k++) image_destroy(&pictures[k]);
  return wrong ? fail(argv[2], wrong) : 0;
}
