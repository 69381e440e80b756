/* The reader of Siconos text, which must return a whole problem or none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact_file.h"
#include "fuzz.h"

static void check(const contact_file *file) {
  if (file->dimension < 1 || file->dimension > 3 || file->size < 1 || file->size % file->dimension) abort();
  if ((file->mu != NULL) != (file->dimension > 1)) abort();
  for (int64_t k = 0; k < file->count; k++) {
    const mm_entry *e = &file->entries[k];
    if (e->row < 0 || e->row >= file->size || e->column < 0 || e->column >= file->size) abort();
  }
  for (int32_t i = 0; i < file->size; i++)
    if (!isfinite(file->q[i])) abort();
  for (int32_t c = 0; file->mu && c < file->size / file->dimension; c++)
    if (!(file->mu[c] >= 0)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  contact_file file;
  mm_error error;
  if (!text) return 0;
  if (size) memcpy(text, data, size);
  text[size] = 0;
  if (!siconos_parse("file", text, size, &file, &error)) check(&file);
  contact_file_free(&file);
  free(text);
  return 0;
}
