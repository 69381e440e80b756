#include "dsi.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dsi_controls_free(dsi_controls *list) {
  free(list->points);
  *list = (dsi_controls){0};
}

int dsi_controls_find(const dsi_controls *list, int32_t vertex) {
  for (int k = 0; k < list->count; k++)
    if (list->points[k].vertex == vertex) return k;
  return -1;
}

static int reserve(dsi_controls *list, int count, char message[MESH_MESSAGE]) {
  if (count <= list->room) return 0;
  const int room = count > 2 * list->room ? count : 2 * list->room;
  dsi_control *points = realloc(list->points, (size_t)room * sizeof *points);
  if (!points) return mesh_fail(message, "out of memory for %d control points", count);
  list->points = points;
  list->room = room;
  return 0;
}

static int check(const mesh *m, const dsi_control *point, char message[MESH_MESSAGE]) {
  if (point->vertex < 0 || point->vertex >= m->vertex_count)
    return mesh_fail(message, "there is no vertex %d for a control point, expected one of 0 to %d",
                     (int)point->vertex, (int)m->vertex_count - 1);
  for (int c = 0; c < 3; c++)
    if (!isfinite(point->place[c]))
      return mesh_fail(message, "the control point of vertex %d has the %c coordinate %g, expected a number",
                       (int)point->vertex, "xyz"[c], point -> place[c]);
  if (!(point->weight > 0))
    return mesh_fail(message, "the control point of vertex %d has the weight %g, expected one above 0",
                     (int)point->vertex, point->weight);
  return 0;
}

int dsi_controls_add(dsi_controls *list, const mesh *m, const dsi_control *point, char message[MESH_MESSAGE]) {
  if (check(m, point, message)) return 1;
  if (dsi_controls_find(list, point->vertex) >= 0)
    return mesh_fail(message, "vertex %d has two control points, expected one", (int)point->vertex);
  if (reserve(list, list->count + 1, message)) return 1;
  list->points[list->count++] = *point;
  return 0;
}

void dsi_controls_remove(dsi_controls *list, int index) {
  list->count--;
  memmove(list->points + index, list->points + index + 1, (size_t)(list->count - index) * sizeof *list->points);
}

int dsi_controls_copy(const dsi_controls *from, dsi_controls *to, char message[MESH_MESSAGE]) {
  if (reserve(to, from->count, message)) return 1;
  if (from->count) memcpy(to->points, from->points, (size_t)from->count * sizeof *to->points);
  to->count = from->count;
  return 0;
}

/* ---- Parsing ---- */

static int parse_vertex(const char *text, int32_t *vertex) {
  char *end;
  errno = 0;
  const long value = strtol(text, &end, 10);
  if (end == text || *end || errno || value < INT32_MIN || value > INT32_MAX) return 1;
  *vertex = (int32_t)value;
  return 0;
}

static int parse_number(const char *text, double *value) {
  char *end;
  *value = strtod(text, &end);
  return end == text || *end || !isfinite(*value);
}

static int parse_line(char *line, dsi_control *point, int *empty, char message[MESH_MESSAGE]) {
  static const char *const blanks = " \t\r\n", *const names[] = {"vertex", "x", "y", "z", "weight"};
  char *words[6];
  int count = 0;
  line[strcspn(line, "#")] = 0;
  for (char *word = strtok(line, blanks); word && count < 6; word = strtok(NULL, blanks)) words[count++] = word;
  *empty = count == 0;
  if (*empty) return 0;
  if (count < 4 || count > 5)
    return mesh_fail(message, "%s words, expected `vertex x y z', optionally with a weight or `fixed'",
                     count < 4 ? "too few" : "too many");
  if (parse_vertex(words[0], &point->vertex))
    return mesh_fail(message, "'%.40s', expected the number of a vertex", words[0]);
  for (int c = 0; c < 3; c++)
    if (parse_number(words[1 + c], &point->place[c]))
      return mesh_fail(message, "%s is '%.40s', expected a number", names[1 + c], words[1 + c]);
  if (count == 5 && strcmp(words[4], "fixed") != 0 &&
      (parse_number(words[4], &point->weight) || point->weight <= 0))
    return mesh_fail(message, "the weight is '%.40s', expected a number above 0, or `fixed'", words[4]);
  return 0;
}

/* Reads a line of any length. Returns 0 at the end of the file, on an error, or if memory runs out. */
static int read_line(FILE *file, char **line, size_t *room) {
  size_t length = 0;
  for (;;) {
    if (*room - length < 2) {
      char *larger = realloc(*line, 2 * *room + 128);
      if (!larger) return 0;
      *line = larger;
      *room = 2 * *room + 128;
    }
    if (!fgets(*line + length, (int)(*room - length), file)) return length > 0;
    length += strlen(*line + length);
    if ((*line)[length - 1] == '\n') return 1;
  }
}

int dsi_controls_read(dsi_controls *list, const char *path, const mesh *m, char message[MESH_MESSAGE]) {
  char *line = NULL, why[MESH_MESSAGE];
  size_t room = 0;
  int failed = 0, number = 0, empty;
  FILE *file = fopen(path, "r");
  if (!file) return mesh_fail(message, "%.200s: %s", path, strerror(errno));
  while (!failed && read_line(file, &line, &room)) {
    dsi_control point = {.weight = DSI_FIXED};
    number++;
    /* Skip a byte order mark. */
    char *const text = number == 1 && strncmp(line, "\xef\xbb\xbf", 3) == 0 ? line + 3 : line;
    failed = parse_line(text, &point, &empty, why);
    for (int c = 0; c < 3; c++) point.place[c] -= m->origin[c];
    if (!failed && !empty) failed = dsi_controls_add(list, m, &point, why);
    if (failed) mesh_fail(message, "%.100s:%d: %.180s", path, number, why);
  }
  if (!failed && ferror(file)) failed = mesh_fail(message, "%.200s: cannot be read", path);
  free(line);
  fclose(file);
  return failed;
}

int dsi_controls_fix(dsi_controls *list, const char *vertices, const mesh *m, char message[MESH_MESSAGE]) {
  for (const char *from = vertices;;) {
    const size_t length = strcspn(from, ",");
    char word[32];
    dsi_control point = {.weight = DSI_FIXED};
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), from);
    if (parse_vertex(word, &point.vertex))
      return mesh_fail(message, "'%s', expected numbers of vertices such as 3,17,20", word);
    if (point.vertex >= 0 && point.vertex < m->vertex_count)
      memcpy(point.place, m->positions + 3 * (size_t)point.vertex, sizeof point.place);
    if (dsi_controls_add(list, m, &point, message)) return 1;
    if (!from[length]) return 0;
    from += length + 1;
  }
}
