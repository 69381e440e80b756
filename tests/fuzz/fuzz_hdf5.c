/* The reader of FCLIB's HDF5 files, and the messages of the child process that reads them.
 *
 * The HDF5 library crashes on some files, which is why a child reads them. So the child reads first. If it
 * survives, this process reads the file too, where libFuzzer sees the reader's branches. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact_file.h"
#include "fuzz.h"

/* A child is a copy of this process, so a large quarantine of AddressSanitizer would cost time. */
const char *__asan_default_options(void);
const char *__lsan_default_suppressions(void);
const char *__asan_default_options(void) {
  return "quarantine_size_mb=8";
}

/* The library leaks memory when it reads broken files. The command's child process ends then. */
const char *__lsan_default_suppressions(void) {
  return "leak:libhdf5";
}

static void check(const contact_file *file) {
  if ((file->dimension != 2 && file->dimension != 3) || file->size < 1 || file->size % file->dimension) abort();
  if (!file->q || !file->mu || file->count < 0) abort();
  for (int64_t k = 0; k < file->count; k++) {
    const mm_entry *e = &file->entries[k];
    if (e->row < 0 || e->row >= file->size || e->column < 0 || e->column >= file->size) abort();
    if (!isfinite(e->value)) abort();
  }
  for (int32_t i = 0; i < file->size; i++) {
    if (!isfinite(file->q[i]) || (file->solution && !isfinite(file->solution[i]))) abort();
    if (file->guess && !isfinite(file->guess[i])) abort();
  }
  for (int32_t c = 0; c < file->size / file->dimension; c++)
    if (!(file->mu[c] >= 0)) abort();
}

/* Bytes that a child could send. */
static void receive(const uint8_t *data, size_t size) {
  contact_file file;
  mm_error error;
  FILE *stream = size ? fmemopen((void *)data, size, "rb") : NULL;
  if (!stream) return;
  if (fclib_receive(stream, &file, &error) == 0) {
    check(&file);
    contact_file_free(&file);
  }
  fclose(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  contact_file file, here;
  mm_error error = {""}, error_here = {""};
  receive(data, size);
  const char *path = fuzz_file("hdf5", data, size);
  const int failed = fclib_read(path, -1, &file, &error);
  if (failed && strstr(error.text, ": the HDF5 library ")) return 0;
  if (!failed) check(&file);
  /* Both processes must get the same result. */
  const int failed_here = fclib_read_here(path, size, -1, &here, &error_here);
  if (!failed != !failed_here || (failed && strcmp(error.text, error_here.text) != 0)) abort();
  if (!failed && (here.size != file.size || here.count != file.count ||
                  memcmp(here.q, file.q, (size_t)file.size * sizeof *file.q) != 0))
    abort();
  contact_file_free(&file);
  contact_file_free(&here);
  return 0;
}
