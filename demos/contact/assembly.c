/* After a step the velocity is v', and u' = H v' is the relative velocity at each contact. The contact laws
 * relate the reactions to w = u' plus a bias. The bias of the normal component depends on the contact:
 *
 *   w_n = u'_n + e u_n^-    (Newton's law of impact) if the gap closes within the step, faster than a resting
 * contact w_n = u'_n + gap / h    otherwise: the bodies may approach until the gap is closed
 *
 * u_n^- is the velocity before the step. The problem is M z + q = w with M = H M_0^-1 H^T and q = H v_free +
 * bias. */
#include "assembly.h"

#include <stdlib.h>
#include <string.h>

#include "vector.h"

enum { entries_a_row = 12 };

static int resize(void **items, size_t count, size_t size) {
  void *larger = realloc(*items, count * size);
  if (larger) *items = larger;
  return !larger;
}
#define RESIZE(items, count) resize((void **)&(items), (size_t)(count), sizeof *(items))

static int reserve(assembly *a, const world *w) {
  if (w->count > a->body_capacity) {
    if (RESIZE(a->slots, w->capacity) || RESIZE(a->inverse_mass, 36 * (size_t)w->capacity)) return 1;
    a->body_capacity = w->capacity;
  }
  if (w->contact_count > a->contact_capacity) {
    const size_t rows = 3 * (size_t)w->contact_capacity;
    if (RESIZE(a->row_offsets, rows + 1) || RESIZE(a->columns, entries_a_row * rows) ||
        RESIZE(a->values, entries_a_row * rows) || RESIZE(a->q, rows) || RESIZE(a->z, rows) ||
        RESIZE(a->friction, w->contact_capacity))
      return 1;
    a->contact_capacity = w->contact_capacity;
  }
  return 0;
}

/* ---- Masses ---- */

static double mean_mass(const world *w) {
  double sum = 0;
  int moving = 0;
  for (int k = 0; k < w->count; k++) {
    sum += w->bodies[k].mass;
    moving += w->bodies[k].mass > 0;
  }
  return moving ? sum / moving : 1;
}

static int32_t put_masses(assembly *a, const world *w) {
  int32_t columns = 0;
  for (int k = 0; k < w->count; k++) {
    const body *b = &w->bodies[k];
    double(*const block)[6] = (double(*)[6])(void *)(a->inverse_mass + (size_t)columns * 6);
    a->slots[k] = -1;
    if (!(b->mass > 0)) continue;
    a->slots[k] = columns;
    columns += 6;
    memset(block, 0, 36 * sizeof(double));
    for (int i = 0; i < 3; i++) {
      block[i][i] = a->mass / b->mass;
      for (int j = 0; j < 3; j++) block[3 + i][3 + j] = a->mass * b->inverse[i][j];
    }
  }
  return columns;
}

/* ---- H ---- */

/* Writes a body's entries of one row of H. Returns the body's contribution to the relative velocity. */
static double put_body(assembly *a, const world *w, int index, const double point[3], const double axis[3],
                       double sign, int32_t *entry) {
  const body *b = &w->bodies[index];
  double arm[3], turn[3];
  if (a->slots[index] < 0) return 0;
  subtract(point, b->position, arm);
  cross(arm, axis, turn);
  for (int k = 0; k < 6; k++) {
    a->columns[*entry] = a->slots[index] + k;
    a->values[(*entry)++] = sign * (k < 3 ? axis[k] : turn[k - 3]);
  }
  return sign * (dot(axis, b->velocity) + dot(turn, b->spin));
}

static double bias(const world *w, const contact *c) {
  const double resting = 2 * w->gravity * w->step; /* impacts below this speed do not bounce */
  if (w->restitution > 0 && c->approach < -resting && c->gap + w->step * c->approach < 0)
    return w->restitution * c->approach;
  return fmax(c->gap, 0) / w->step;
}

static void put_contacts(assembly *a, const world *w, int warm_start) {
  int32_t entry = 0;
  a->row_offsets[0] = 0;
  for (int k = 0; k < w->contact_count; k++) {
    const contact *c = &w->contacts[k];
    const int first = 3 * k;
    for (int i = 0; i < 3; i++) {
      const int row = first + i;
      a->q[row] = put_body(a, w, c->a, c->point, c->axes[i], 1, &entry);
      a->q[row] += put_body(a, w, c->b, c->point, c->axes[i], -1, &entry);
      a->row_offsets[row + 1] = entry;
      a->z[row] = warm_start ? c->reaction[i] / a->mass : 0;
    }
    a->q[first] += bias(w, c);
    a->friction[k] = w->friction;
  }
}

int assembly_make(assembly *a, const world *w, int warm_start) {
  if (reserve(a, w)) return 1;
  if (!w->contact_count) return 0;
  a->mass = mean_mass(w);
  const int32_t columns = put_masses(a, w);
  put_contacts(a, w, warm_start);
  a->jacobian = ts_host_csr(3 * (int64_t)w->contact_count, columns, a->row_offsets, a->columns, a->values);
  return 0;
}

void assembly_write_reactions(const assembly *a, world *w) {
  for (int k = 0; k < w->contact_count; k++)
    for (int i = 0; i < 3; i++) w->contacts[k].reaction[i] = a->mass * a->z[3 * k + i];
}

void assembly_free(assembly *a) {
  free(a->inverse_mass);
  free(a->q);
  free(a->z);
  free(a->friction);
  free(a->slots);
  free(a->row_offsets);
  free(a->columns);
  free(a->values);
  *a = (assembly){0};
}
