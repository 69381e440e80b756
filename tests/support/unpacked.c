#include "unpacked.h"

#include "test.h"

typedef struct unpacked {
  const tsi_host_csr *csr;
  unsigned char *seen; /* per entry */
  int wrong;
} unpacked;

static void note(void *user, int32_t row, int32_t column, float value) {
  unpacked *u = user;
  const tsi_host_csr *A = u->csr;
  if (row < 0 || row >= A->rows || column < 0 || column >= A->columns) {
    u->wrong++;
    return;
  }
  int32_t e = A->row_offsets[row];
  while (e < A->row_offsets[row + 1] && A->column_indices[e] < column) e++;
  const int is_entry = e < A->row_offsets[row + 1] && A->column_indices[e] == column;
  if (is_entry ? u->seen[e]++ || A->values[e] != value : value != 0) u->wrong++;
}

void check_unpacked(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                    const tsi_packed *packed) {
  const size_t entries = (size_t)input->csr->row_offsets[input->csr->rows];
  const tsi_host_csr size = {.rows = input->csr->rows, .columns = input->csr->columns};
  unpacked u = {.csr = input->csr, .seen = calloc(entries + 1, 1)};
  tsi_layout_input known = *input;
  known.csr = &size;
  CHECK_OK(context, tsi_format_of(layout->format)->unpack(context, layout, &known, packed, note, &u));
  CHECK_INT(u.wrong, 0);
  for (size_t e = 0; e < entries; e++)
    if (!CHECK(u.seen[e])) break;
  free(u.seen);
}
