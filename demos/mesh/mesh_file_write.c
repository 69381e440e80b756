#include "mesh_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output_file.h"
#include "platform.h"

mesh_format mesh_format_of(const char *path) {
  static const char *const endings[MESH_FORMATS] = {"obj", "ply", "off", "stl"};
  if (!strcmp(path, "-")) return MESH_OBJ; /* standard output */
  const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
  int format = 0;
  while (format < MESH_FORMATS && !(dot && same_letters(dot + 1, endings[format], 4))) format++;
  return (mesh_format)format;
}

const char *mesh_file_name(const char *path) {
  const size_t length = strlen(path), most = 160;
  return length > most ? path + length - most : path;
}

int mesh_file_can_write(const char *path, char message[MESH_MESSAGE]) {
  if (mesh_format_of(path) != MESH_FORMATS) return 0;
  return mesh_fail(message, "%s: expected a name that ends in .obj, .ply, .off or .stl", mesh_file_name(path));
}

int mesh_file_can_write_textured(const char *path, char message[MESH_MESSAGE]) {
  const mesh_format format = mesh_format_of(path);
  if (format == MESH_OBJ || format == MESH_PLY) return 0;
  return mesh_fail(message, "%s: expected a name that ends in .obj or .ply", mesh_file_name(path));
}

/* ---- Numbers: in single precision, or exact ---- */

static int has_origin(const mesh *m) {
  return m->origin[0] != 0 || m->origin[1] != 0 || m->origin[2] != 0;
}

/* The position in the file's coordinates. */
static void position_of(const mesh *m, size_t v, double position[3]) {
  for (int c = 0; c < 3; c++) position[c] = m->positions[3 * v + (size_t)c] + m->origin[c];
}

/* Writes the lowest byte first. */
static void put_bytes(FILE *file, uint64_t bits, int count) {
  for (int k = 0; k < count; k++) putc((int)(bits >> 8 * k & 255), file);
}

static void put_binary(FILE *file, int exact, const double *numbers, int count) {
  for (int k = 0; k < count; k++) {
    const float single = (float)numbers[k];
    uint32_t bits;
    uint64_t all;
    memcpy(&bits, &single, sizeof bits);
    memcpy(&all, numbers + k, sizeof all);
    put_bytes(file, exact ? all : bits, exact ? 8 : 4);
  }
}

/* Writes the fewest digits that reproduce the double, at least 15. */
static void put_exactly(FILE *file, double number) {
  char text[40];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, number);
    if (strtod(text, NULL) == number) break;
  }
  fputs(text, file);
}

static void put_text(FILE *file, const char *before, int exact, const double *numbers, int count) {
  fputs(before, file);
  for (int k = 0; k < count; k++) {
    if (k) putc(' ', file);
    if (exact)
      put_exactly(file, numbers[k]);
    else
      fprintf(file, "%.9g", (double)(float)numbers[k]); /* enough digits for any float */
  }
  putc('\n', file);
}

static void put_vertex(FILE *file, const char *before, const mesh *m, size_t v) {
  double position[3];
  position_of(m, v, position);
  put_text(file, before, has_origin(m), position, 3);
}

/* ---- The formats ---- */

static void write_obj(FILE *file, const mesh *m, const mesh_texture *texture) {
  int32_t places = 0;
  fprintf(file, "# %d vertices, %d faces\n", (int)m->vertex_count, (int)m->triangle_count);
  for (size_t v = 0; v < (size_t)m->vertex_count; v++) put_vertex(file, "v ", m, v);
  for (size_t k = 0; texture && k < 3 * (size_t)m->triangle_count; k++)
    if (texture->corner[k] >= places) places = texture->corner[k] + 1;
  for (int32_t p = 0; p < places; p++)
    put_text(file, "vt ", texture->is_double, texture->uv + 2 * (size_t)p, 2);
  for (size_t k = 0; k < 3 * (size_t)m->triangle_count; k++) {
    fprintf(file, k % 3 ? " %d" : "f %d", (int)m->triangles[k] + 1);
    if (texture) fprintf(file, "/%d", (int)texture->corner[k] + 1);
    if (k % 3 == 2) putc('\n', file);
  }
}

static void write_off(FILE *file, const mesh *m) {
  fprintf(file, "OFF\n%d %d 0\n", (int)m->vertex_count, (int)m->triangle_count);
  for (size_t v = 0; v < (size_t)m->vertex_count; v++) put_vertex(file, "", m, v);
  for (const int32_t *t = m->triangles; t < m->triangles + 3 * (size_t)m->triangle_count; t += 3)
    fprintf(file, "3 %d %d %d\n", (int)t[0], (int)t[1], (int)t[2]);
}

static const char *type_name(int is_double) {
  return is_double ? "double" : "float";
}

static void write_ply(FILE *file, const mesh *m, const mesh_texture *texture) {
  const int exact = has_origin(m), exact_uv = texture && texture->is_double;
  fprintf(file, "ply\nformat binary_little_endian 1.0\nelement vertex %d\n", (int)m->vertex_count);
  for (int c = 0; c < 3; c++) fprintf(file, "property %s %c\n", type_name(exact), "xyz"[c]);
  for (int c = 0; c < 2 && texture; c++) fprintf(file, "property %s %c\n", type_name(exact_uv), "uv"[c]);
  fprintf(file, "element face %d\nproperty list uchar int vertex_indices\nend_header\n",
          (int)m->triangle_count);
  for (size_t v = 0; v < (size_t)m->vertex_count; v++) {
    double position[3];
    position_of(m, v, position);
    put_binary(file, exact, position, 3);
    if (texture) put_binary(file, exact_uv, texture->uv + 2 * v, 2);
  }
  for (size_t k = 0; k < 3 * (size_t)m->triangle_count; k++) {
    if (k % 3 == 0) putc(3, file);
    put_bytes(file, (uint32_t)m->triangles[k], 4);
  }
}

static void find_normal(const mesh *m, const int32_t *t, double normal[3]) {
  const double *a = m->positions + 3 * (size_t)t[0], *b = m->positions + 3 * (size_t)t[1],
               *c = m->positions + 3 * (size_t)t[2];
  double length = 0;
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    normal[k] = (b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]);
    length += normal[k] * normal[k];
  }
  for (int k = 0; k < 3; k++) normal[k] = length > 0 ? normal[k] / sqrt(length) : 0;
}

static void write_binary_stl(FILE *file, const mesh *m) {
  char header[80] = "binary stl file";
  memset(header + strlen(header), ' ', sizeof header - 1 - strlen(header));
  fwrite(header, 1, sizeof header, file);
  put_bytes(file, (uint32_t)m->triangle_count, 4);
  for (const int32_t *t = m->triangles; t < m->triangles + 3 * (size_t)m->triangle_count; t += 3) {
    double normal[3];
    find_normal(m, t, normal);
    put_binary(file, 0, normal, 3);
    for (int k = 0; k < 3; k++) put_binary(file, 0, m->positions + 3 * (size_t)t[k], 3);
    put_bytes(file, 0, 2);
  }
}

/* For double precision: binary STL has floats only. */
static void write_text_stl(FILE *file, const mesh *m) {
  fputs("solid mesh\n", file);
  for (const int32_t *t = m->triangles; t < m->triangles + 3 * (size_t)m->triangle_count; t += 3) {
    double normal[3];
    find_normal(m, t, normal);
    put_text(file, "facet normal ", 0, normal, 3);
    fputs("outer loop\n", file);
    for (int k = 0; k < 3; k++) put_vertex(file, "vertex ", m, (size_t)t[k]);
    fputs("endloop\nendfacet\n", file);
  }
  fputs("endsolid mesh\n", file);
}

/* ---- All formats ---- */

static int write_file(const char *path, const mesh *m, const mesh_texture *texture,
                      char message[MESH_MESSAGE]) {
  output_file file;
  int error = output_create(&file, path);
  if (error) return mesh_fail(message, "%s: %s", mesh_file_name(path), strerror(error));
  const mesh_format format = mesh_format_of(path);
  errno = 0;
  if (format == MESH_OBJ) write_obj(file.stream, m, texture);
  if (format == MESH_OFF) write_off(file.stream, m);
  if (format == MESH_PLY) write_ply(file.stream, m, texture);
  if (format == MESH_STL && has_origin(m)) write_text_stl(file.stream, m);
  if (format == MESH_STL && !has_origin(m)) write_binary_stl(file.stream, m);
  error = ferror(file.stream) ? (errno ? errno : EIO) : 0;
  if (error)
    output_discard(&file);
  else
    error = output_finish(&file);
  return error ? mesh_fail(message, "%s: %s", mesh_file_name(path), strerror(error)) : 0;
}

int mesh_file_write(const char *path, const mesh *m, char message[MESH_MESSAGE]) {
  return mesh_file_can_write(path, message) || write_file(path, m, NULL, message);
}

int mesh_file_write_textured(const char *path, const mesh *m, const mesh_texture *texture,
                             char message[MESH_MESSAGE]) {
  return mesh_file_can_write_textured(path, message) || write_file(path, m, texture, message);
}
