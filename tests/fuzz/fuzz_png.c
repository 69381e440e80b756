/* Images of walls. */
#include "fuzz.h"
#include "png_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  image picture;
  char why[200];
  if (!png_image_load(fuzz_file("png", data, size), &picture, why, sizeof why)) image_destroy(&picture);
  return 0;
}
