/* The system builder: equations in CSR from the added coefficients, in linear time. Two counting sorts, by
 * column and then by row, give ascending columns with equal places adjacent. The slot of each coefficient is
 * kept, so that later coefficients at the same places only need to be summed. */
#include <string.h>

#include "system.h"

void tsi_equations_free(ts_context *context, tsi_equations *e) {
  tsi_free(context, e->offsets);
  tsi_free(context, e->columns);
  tsi_free(context, e->values);
  tsi_free(context, e->slots);
  tsi_free(context, e->row_of);
  tsi_free(context, e->right_hand_sides);
  tsi_free(context, e->weights);
  *e = (tsi_equations){0};
}

static int32_t equation_of(const tsi_equations *q, int32_t row) {
  return row < 0 ? -1 - row : q->row_of ? q->row_of[row] : row;
}

/* If the number of rows is that of the unlocked unknowns, row k belongs to the k-th of them. */
static ts_status map_rows(const ts_system *s, tsi_equations *q) {
  const int32_t rows = s->assembly.row_count;
  if (s->desc.least_squares || rows == 0 || rows == s->desc.unknowns) return TS_OK;
  q->row_of = tsi_malloc(s->context, (size_t)rows, sizeof *q->row_of);
  if (!q->row_of) return tsi_out_of_memory(s->context, "equations", (size_t)rows * sizeof *q->row_of);
  int32_t row = 0;
  for (int32_t j = 0; j < s->desc.unknowns; j++)
    if (!s->locked[j]) q->row_of[row++] = j;
  return TS_OK;
}

/* ---- Places ---- */

static int is_sorted(const ts_system *s, const tsi_equations *q) {
  const tsi_assembly *t = &s->assembly;
  if (s->desc.symmetric) return 0;
  int32_t row = -1, column = -1;
  for (int64_t e = 0; e < t->count; e++) {
    const int32_t i = equation_of(q, t->rows[e]), j = t->unknowns[e];
    if (i < row || (i == row && j <= column)) return 0;
    row = i;
    column = j;
  }
  return 1;
}

static ts_status copy_sorted(const ts_system *s, tsi_equations *q) {
  const tsi_assembly *t = &s->assembly;
  q->columns = tsi_malloc(s->context, (size_t)t->count, sizeof *q->columns);
  if (!q->columns) return tsi_out_of_memory(s->context, "equations", (size_t)t->count * sizeof *q->columns);
  memcpy(q->columns, t->unknowns, (size_t)t->count * sizeof *q->columns);
  for (int64_t e = 0; e < t->count; e++) q->offsets[equation_of(q, t->rows[e]) + 1]++;
  for (int32_t i = 0; i < q->rows; i++) q->offsets[i + 1] += q->offsets[i];
  return TS_OK;
}

/* Stable sort of the numbers in `from` (NULL: 0, 1, ...) by ascending key. `starts` has room for one more than
 * the number of keys. */
static void counting_sort(const int32_t *keys, int32_t key_count, const int32_t *from, int32_t *to,
                          int32_t count, int32_t *starts) {
  memset(starts, 0, ((size_t)key_count + 1) * sizeof *starts);
  for (int32_t k = 0; k < count; k++) starts[keys[k] + 1]++;
  for (int32_t key = 0; key < key_count; key++) starts[key + 1] += starts[key];
  for (int32_t k = 0; k < count; k++) {
    const int32_t e = from ? from[k] : k;
    to[starts[keys[e]]++] = e;
  }
}

/* Lists the entries as added, followed by their mirrors. */
static void list_places(const ts_system *s, const tsi_equations *q, int32_t *rows, int32_t *columns) {
  const tsi_assembly *t = &s->assembly;
  int64_t mirror = t->count;
  for (int64_t e = 0; e < t->count; e++) {
    rows[e] = equation_of(q, t->rows[e]);
    columns[e] = t->unknowns[e];
    if (!s->desc.symmetric || rows[e] == columns[e]) continue;
    rows[mirror] = columns[e];
    columns[mirror++] = rows[e];
  }
}

/* Assigns slots and columns to the sorted places. */
static ts_status assign_places(const ts_system *s, tsi_equations *q, const int32_t *order, const int32_t *rows,
                               const int32_t *columns, int32_t count) {
  int32_t slot = -1, row = -1, column = -1;
  for (int32_t k = 0; k < count; k++) {
    const int32_t e = order[k];
    if (rows[e] != row || columns[e] != column) {
      slot++;
      row = rows[e];
      column = columns[e];
      q->offsets[row + 1]++;
    }
    q->slots[e] = slot;
  }
  for (int32_t i = 0; i < q->rows; i++) q->offsets[i + 1] += q->offsets[i];
  q->columns = tsi_malloc(s->context, (size_t)slot + 1, sizeof *q->columns);
  if (!q->columns) return tsi_out_of_memory(s->context, "equations", ((size_t)slot + 1) * sizeof *q->columns);
  for (int32_t e = 0; e < count; e++) q->columns[q->slots[e]] = columns[e];
  return TS_OK;
}

static ts_status sort_places(const ts_system *s, tsi_equations *q) {
  const tsi_assembly *t = &s->assembly;
  ts_context *context = s->context;
  int64_t count = t->count;
  for (int64_t e = 0; s->desc.symmetric && e < t->count; e++)
    count += equation_of(q, t->rows[e]) != t->unknowns[e];
  if (count > INT32_MAX)
    return tsi_fail(context, TS_ERROR_LIMIT, "a symmetric system has at most %d coefficients in both triangles",
                    INT32_MAX);
  const int32_t keys = q->rows > s->desc.unknowns ? q->rows : s->desc.unknowns;
  int32_t *places = tsi_malloc(context, (size_t)count, 4 * sizeof *places);
  int32_t *starts = tsi_malloc(context, (size_t)keys + 1, sizeof *starts);
  q->slots = tsi_malloc(context, (size_t)count, sizeof *q->slots);
  ts_status status = TS_OK;
  if (places && starts && q->slots) {
    int32_t *rows = places, *columns = rows + count, *by_column = columns + count, *order = by_column + count;
    list_places(s, q, rows, columns);
    counting_sort(columns, s->desc.unknowns, NULL, by_column, (int32_t)count, starts);
    counting_sort(rows, q->rows, by_column, order, (int32_t)count, starts);
    status = assign_places(s, q, order, rows, columns, (int32_t)count);
  } else {
    status = tsi_out_of_memory(context, "equations", (size_t)count * 5 * sizeof *places);
  }
  tsi_free(context, places);
  tsi_free(context, starts);
  return status;
}

static ts_status create_pattern(const ts_system *s, tsi_equations *q) {
  q->places_of = s->assembly.count;
  q->offsets = tsi_calloc(s->context, (size_t)q->rows + 1, sizeof *q->offsets);
  const size_t numbers = (size_t)q->rows * (size_t)s->desc.components;
  q->right_hand_sides = tsi_malloc(s->context, numbers, sizeof *q->right_hand_sides);
  q->weights = tsi_malloc(s->context, (size_t)q->rows, sizeof *q->weights);
  if (!q->offsets || !q->right_hand_sides || !q->weights)
    return tsi_out_of_memory(s->context, "equations", (numbers + 2 * (size_t)q->rows) * sizeof *q->weights);
  TSI_TRY(is_sorted(s, q) ? copy_sorted(s, q) : sort_places(s, q));
  const size_t entries = (size_t)q->offsets[q->rows];
  q->values = tsi_malloc(s->context, entries, sizeof *q->values);
  if (!q->values) return tsi_out_of_memory(s->context, "equations", entries * sizeof *q->values);
  return TS_OK;
}

/* ---- Numbers ---- */

static void add_up(const ts_system *s, tsi_equations *q) {
  const tsi_assembly *t = &s->assembly;
  if (!q->slots) {
    memcpy(q->values, t->coefficients, (size_t)t->count * sizeof *q->values);
    return;
  }
  memset(q->values, 0, (size_t)q->offsets[q->rows] * sizeof *q->values);
  const int32_t *mirror = q->slots + t->count;
  for (int64_t e = 0; e < t->count; e++) {
    q->values[q->slots[e]] += t->coefficients[e];
    if (s->desc.symmetric && equation_of(q, t->rows[e]) != t->unknowns[e])
      q->values[*mirror++] += t->coefficients[e];
  }
}

static void copy_right_hand_sides(const ts_system *s, tsi_equations *q) {
  const tsi_assembly *t = &s->assembly;
  const size_t components = (size_t)s->desc.components;
  const size_t numbers = (size_t)q->rows * components;
  for (size_t k = 0; k < numbers; k++) q->right_hand_sides[k] = t->added ? t->added[k] : 0;
  for (int32_t r = 0; r < q->rows; r++) q->weights[r] = 1;
  for (int32_t r = 0; r < t->row_count; r++) {
    const size_t i = (size_t)equation_of(q, r);
    for (size_t c = 0; c < components; c++)
      q->right_hand_sides[i * components + c] += t->right_hand_sides[(size_t)r * components + c];
    q->weights[i] = t->weights[r];
  }
}

static int is_known(const ts_system *s, const tsi_equations *q) {
  const tsi_equations *before = &s->equations;
  if (s->assembly.known != s->assembly.count || before->places_of != s->assembly.count ||
      before->rows != q->rows)
    return 0;
  if (!before->row_of != !q->row_of) return 0;
  return !q->row_of ||
         memcmp(before->row_of, q->row_of, (size_t)s->assembly.row_count * sizeof *q->row_of) == 0;
}

ts_status tsi_equations_create(ts_system *s) {
  tsi_equations q = {.rows = s->desc.least_squares ? s->assembly.row_count : s->desc.unknowns};
  ts_status status = map_rows(s, &q);
  if (status == TS_OK && is_known(s, &q)) {
    tsi_equations_free(s->context, &q);
  } else {
    if (status == TS_OK) status = create_pattern(s, &q);
    if (status < 0) {
      tsi_equations_free(s->context, &q);
      return status;
    }
    tsi_equations_free(s->context, &s->equations);
    s->equations = q;
    s->assembly.known = s->assembly.count;
    s->new_pattern = 1;
  }
  add_up(s, &s->equations);
  copy_right_hand_sides(s, &s->equations);
  s->new_values = s->new_right_hand_sides = 1;
  return TS_OK;
}
