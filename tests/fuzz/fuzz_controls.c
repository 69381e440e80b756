/* Control points of mesh-smooth: a file, and the list of --fix. */
#include <stdlib.h>
#include <string.h>

#include "dsi.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mesh m;
  char message[MESH_MESSAGE];
  dsi_controls list = {0}, fixed = {0};
  if (mesh_create(100, 1, &m, message)) return 0;
  dsi_controls_read(&list, fuzz_file("txt", data, size), &m, message);
  char *text = malloc(size + 1);
  if (text) {
    memcpy(text, data, size);
    text[size] = 0;
    dsi_controls_fix(&fixed, text, &m, message);
  }
  free(text);
  dsi_controls_free(&list);
  dsi_controls_free(&fixed);
  mesh_destroy(&m);
  return 0;
}
