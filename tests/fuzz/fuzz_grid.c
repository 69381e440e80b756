/* Files with numbers of a grid: NumPy's .npy and Matrix Market. */
#include <stdlib.h>

#include "fuzz.h"
#include "grid_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  double *values;
  if (!grid_file_read("--rhs", fuzz_file("npy", data, size), 5, 4, &values)) free(values);
  if (!grid_file_read("--rhs", fuzz_file("mtx", data, size), 3, 3, &values)) free(values);
  return 0;
}
