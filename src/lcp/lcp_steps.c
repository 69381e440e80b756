/* Contacts of a sparse problem that may be solved at once: units, levels and colours. The time is proportional
 * to the number of blocks; colours take this time per 64 colours. */
#include <string.h>

#include "lcp.h"

/* ---- Units ---- */

/* Whether contacts c and c + 1 have the same bodies, or the same neighbours when each counts the other. Columns
 * ascend, and a contact's own column is not stored. */
static int are_alike(const tsi_lcp_sparse *s, int32_t c) {
  const int32_t *a = s->columns + s->row_start[c], *b = s->columns + s->row_start[c + 1];
  const int32_t count = s->row_start[c + 1] - s->row_start[c];
  if (count == 0 || s->row_start[c + 2] - s->row_start[c + 1] != count) return 0;
  for (int32_t k = 0; k < count; k++) {
    const int is_each_other = !s->mass_blocks && a[k] == c + 1 && b[k] == c;
    if (a[k] != b[k] && !is_each_other) return 0;
  }
  return 1;
}

void tsi_lcp_make_units(tsi_lcp_sparse *s) {
  s->units = 0;
  for (int32_t c = 0; c < s->contacts; c++)
    if (c == 0 || !are_alike(s, c - 1)) s->unit_start[s->units++] = c;
  s->unit_start[s->units] = s->contacts;
}

/* ---- Steps ---- */

typedef struct marks {
  const tsi_lcp_sparse *s;
  int32_t *unit_of; /* unit of each contact; NULL with bodies */
  int32_t *number;  /* level or colour of each unit */
  int32_t *last;    /* per unit or body: the lowest level of the units after it */
  uint64_t *taken;  /* per unit or body: bits of the 64 colours that are in use, or need not be tried */
} marks;

/* The columns of a unit. With bodies all its contacts have the columns of the first. */
static void columns_of(const tsi_lcp_sparse *s, int32_t unit, int32_t *first, int32_t *last) {
  const int32_t begin = s->unit_start[unit], end = s->mass_blocks ? begin + 1 : s->unit_start[unit + 1];
  *first = s->row_start[begin];
  *last = s->row_start[end];
}

/* A neighbour may lack this unit among its own columns, so the loop also raises the level of later
 * neighbours. */
static void find_levels(marks *m) {
  const tsi_lcp_sparse *s = m->s;
  for (int32_t u = 0; u < s->units; u++) {
    int32_t first, last, level = m->unit_of ? m->last[u] : 0;
    columns_of(s, u, &first, &last);
    for (int32_t k = first; k < last; k++) {
      const int32_t column = s->columns[k], other = m->unit_of ? m->unit_of[column] : column;
      const int32_t least = !m->unit_of ? m->last[other] : other < u ? m->number[other] + 1 : 0;
      if (least > level) level = least;
    }
    m->number[u] = level;
    for (int32_t k = first; k < last; k++) {
      const int32_t other = m->unit_of ? m->unit_of[s->columns[k]] : s->columns[k];
      if ((!m->unit_of || other > u) && m->last[other] <= level) m->last[other] = level + 1;
    }
  }
}

static int lowest_free(uint64_t taken) {
  int bit = 0;
  while (bit < 64 && taken >> bit & 1) bit++;
  return bit;
}

/* Assigns colours `base` to base + 63 to uncoloured units. Returns the number of units still uncoloured. */
static int32_t find_colours(marks *m, int32_t base) {
  const tsi_lcp_sparse *s = m->s;
  int32_t left = 0;
  for (int32_t u = 0; u < s->units; u++) {
    if (m->number[u] >= 0) continue;
    int32_t first, last;
    uint64_t taken = m->unit_of ? m->taken[u] : 0;
    columns_of(s, u, &first, &last);
    for (int32_t k = first; k < last; k++) {
      const int32_t other = m->unit_of ? m->unit_of[s->columns[k]] : s->columns[k];
      if (!m->unit_of)
        taken |= m->taken[other];
      else if (other < u && m->number[other] >= base)
        taken |= (uint64_t)1 << (m->number[other] - base);
    }
    const int bit = lowest_free(taken);
    left += bit == 64;
    if (bit == 64) continue;
    m->number[u] = base + bit;
    for (int32_t k = first; k < last; k++)
      m->taken[m->unit_of ? m->unit_of[s->columns[k]] : s->columns[k]] |= (uint64_t)1 << bit;
  }
  return left;
}

/* Sorts units by number; units of one number ascend. */
static void sort_units(const marks *m, tsi_lcp_steps *steps) {
  const int32_t units = m->s->units;
  steps->count = 0;
  for (int32_t u = 0; u < units; u++)
    if (m->number[u] >= steps->count) steps->count = m->number[u] + 1;
  for (int32_t u = 0; u < units; u++) steps->start[m->number[u] + 1]++;
  for (int32_t k = 0; k < steps->count; k++) steps->start[k + 1] += steps->start[k];
  for (int32_t u = 0; u < units; u++) steps->units[steps->start[m->number[u]]++] = u;
  for (int32_t k = steps->count; k > 0; k--) steps->start[k] = steps->start[k - 1];
  steps->start[0] = 0;
}

static void find_numbers(marks *m, ts_lcp_scheme scheme) {
  const size_t units = (size_t)m->s->units, targets = m->s->mass_blocks ? (size_t)m->s->bodies : units;
  for (int32_t u = 0; m->unit_of && u < m->s->units; u++)
    for (int32_t c = m->s->unit_start[u]; c < m->s->unit_start[u + 1]; c++) m->unit_of[c] = u;
  if (scheme == TS_LCP_SCHEME_GRAPH) {
    find_levels(m);
    return;
  }
  for (size_t u = 0; u < units; u++) m->number[u] = -1;
  for (int32_t base = 0; find_colours(m, base) > 0; base += 64) memset(m->taken, 0, targets * sizeof *m->taken);
}

static ts_status make_steps(ts_context *context, const tsi_lcp_sparse *s, ts_lcp_scheme scheme,
                            tsi_lcp_steps *steps) {
  const size_t units = (size_t)s->units, targets = s->mass_blocks ? (size_t)s->bodies : units;
  marks m = {.s = s};
  tsi_lcp_steps made = {0};
  m.number = tsi_calloc(context, units, sizeof *m.number);
  m.last = tsi_calloc(context, targets, sizeof *m.last);
  m.taken = tsi_calloc(context, targets, sizeof *m.taken);
  made.start = tsi_calloc(context, units + 1, sizeof *made.start);
  made.units = tsi_calloc(context, units, sizeof *made.units);
  if (!s->mass_blocks) m.unit_of = tsi_calloc(context, (size_t)s->contacts, sizeof *m.unit_of);
  const int is_whole =
      m.number && m.last && m.taken && made.start && made.units && (s->mass_blocks || m.unit_of);
  if (is_whole) {
    find_numbers(&m, scheme);
    sort_units(&m, &made);
    *steps = made;
  } else {
    tsi_free(context, made.start);
    tsi_free(context, made.units);
  }
  tsi_free(context, m.number);
  tsi_free(context, m.last);
  tsi_free(context, m.taken);
  tsi_free(context, m.unit_of);
  return is_whole ? TS_OK : tsi_out_of_memory(context, "steps of contacts", units * sizeof *made.units);
}

ts_status tsi_lcp_steps_of(const ts_lcp *lcp, ts_lcp_scheme scheme, const tsi_lcp_steps **steps) {
  tsi_lcp_sparse *s = lcp->sparse;
  tsi_lcp_steps *of = scheme == TS_LCP_SCHEME_COLOUR ? &s->colours : &s->levels;
  if (!of->start) TSI_TRY(make_steps(lcp->context, s, scheme, of));
  *steps = of;
  return TS_OK;
}
