/* Divides the nodes at the median of their longest extent; the separator is those of one half with a neighbour
 * in the other. */
#include "dissect.h"

#include <stdlib.h>
#include <string.h>

enum { leaf_nodes = 24 };

typedef struct divider {
  dissection *d;
  const double *positions;
  const int32_t *row_offsets, *columns;
  int32_t *side; /* of each node: the number of the half that it is in */
  int32_t sides;
} divider;

static int longest_axis(const divider *v, int32_t begin, int32_t end) {
  int longest = 0;
  double extent = -1;
  for (int axis = 0; axis < 3; axis++) {
    double low = 0, high = 0;
    for (int32_t k = begin; k < end; k++) {
      const double at = v->positions[3 * (size_t)v->d->order[k] + (size_t)axis];
      if (k == begin || at < low) low = at;
      if (k == begin || at > high) high = at;
    }
    if (high - low > extent) extent = high - low, longest = axis;
  }
  return longest;
}

/* Hoare's selection: the nodes before `middle` have coordinates not above those after it. */
static void select_median(const divider *v, int32_t begin, int32_t end, int32_t middle, int axis) {
  int32_t *order = v->d->order;
  while (end - begin > 1) {
    const double pivot = v->positions[3 * (size_t)order[begin + (end - begin) / 2] + (size_t)axis];
    int32_t low = begin, high = end - 1;
    while (low <= high) {
      while (v->positions[3 * (size_t)order[low] + (size_t)axis] < pivot) low++;
      while (v->positions[3 * (size_t)order[high] + (size_t)axis] > pivot) high--;
      if (low > high) break;
      const int32_t node = order[low];
      order[low++] = order[high];
      order[high--] = node;
    }
    if (middle <= high)
      end = high + 1;
    else if (middle >= low)
      begin = low;
    else
      return;
  }
}

static int touches(const divider *v, int32_t node, int32_t side) {
  for (int32_t k = v->row_offsets[2 * (size_t)node]; k < v->row_offsets[2 * (size_t)node + 1]; k++)
    if (v->side[v->columns[k] / 2] == side) return 1;
  return 0;
}

/* Divides a range into a first part, a second part and a separator, in this order. Returns the begins of the
 * last two. */
static void divide(divider *v, int32_t begin, int32_t end, int32_t *second, int32_t *separator) {
  int32_t *order = v->d->order, middle = begin + (end - begin) / 2;
  select_median(v, begin, end, middle, longest_axis(v, begin, end));
  const int32_t first_side = ++v->sides, second_side = ++v->sides;
  for (int32_t k = begin; k < end; k++) v->side[order[k]] = k < middle ? first_side : second_side;
  /* The separator moves to the end of the first half, and then behind the second one. */
  int32_t first_end = middle;
  for (int32_t k = middle - 1; k >= begin; k--) {
    if (!touches(v, order[k], second_side)) continue;
    const int32_t node = order[k];
    order[k] = order[--first_end];
    order[first_end] = node;
  }
  const int32_t count = middle - first_end, others = end - middle;
  for (int32_t k = 0; k < count; k++) { /* exchanges the separator with the end of the second half */
    if (k >= others) break;
    const int32_t node = order[first_end + k];
    order[first_end + k] = order[end - 1 - k];
    order[end - 1 - k] = node;
  }
  *second = first_end;
  *separator = end - count;
}

static int32_t add_part(dissection *d, dissection_part part) {
  if (d->part_count == d->capacity) {
    const int32_t capacity = d->capacity ? 2 * d->capacity : 256;
    dissection_part *parts = realloc(d->parts, (size_t)capacity * sizeof *parts);
    if (!parts) return -1;
    d->parts = parts;
    d->capacity = capacity;
  }
  d->parts[d->part_count] = part;
  return d->part_count++;
}

/* Returns the number of the part, or -1 without memory. Recurses about log2(nodes) times. */
static int32_t dissect(divider *v, int32_t begin, int32_t end, int depth) {
  dissection_part part = {begin, begin, end, {-1, -1}};
  int32_t second, separator;
  if (end - begin <= leaf_nodes || depth > 60) return add_part(v->d, part);
  divide(v, begin, end, &second, &separator);
  part.pivots = separator;
  if (second > begin && (part.children[0] = dissect(v, begin, second, depth + 1)) < 0) return -1;
  if (separator > second && (part.children[1] = dissect(v, second, separator, depth + 1)) < 0) return -1;
  return add_part(v->d, part);
}

int dissection_create(dissection *d, int32_t nodes, const double *positions, const int32_t *row_offsets,
                      const int32_t *columns) {
  memset(d, 0, sizeof *d);
  d->nodes = nodes;
  d->order = malloc((size_t)nodes * sizeof *d->order);
  d->place = malloc((size_t)nodes * sizeof *d->place);
  divider v = {d, positions, row_offsets, columns, calloc((size_t)nodes, sizeof *v.side), 0};
  int done = d->order && d->place && v.side;
  for (int32_t k = 0; k < nodes && done; k++) d->order[k] = k;
  if (done) done = dissect(&v, 0, nodes, 0) >= 0;
  for (int32_t k = 0; k < nodes && done; k++) d->place[d->order[k]] = k;
  free(v.side);
  return done;
}

void dissection_free(dissection *d) {
  free(d->order);
  free(d->place);
  free(d->parts);
  memset(d, 0, sizeof *d);
}
