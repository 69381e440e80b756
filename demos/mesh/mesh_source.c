#include "mesh_source.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

const char *const mesh_format_endings[MESH_FORMATS] = {"obj", "ply", "off", "stl"};

mesh_format mesh_format_of(const char *path) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
  int format = 0;
  while (format < MESH_FORMATS && !(dot && strcasecmp(dot + 1, mesh_format_endings[format]) == 0)) format++;
  return (mesh_format)format;
}

const char *mesh_source_name(const char *path) {
  const size_t length = strlen(path), most = 160;
  return length > most ? path + length - most : path;
}

/* ---- Lines of text ---- */

typedef struct line {
  char *begin, *end; /* the end is a newline or the end of the file */
} line;

static int next_line(const mesh_source *s, line *l) {
  char *const end = s->bytes + s->size;
  l->begin = l->begin ? l->end + 1 : s->bytes;
  if (l->begin >= end) return 0;
  char *newline = memchr(l->begin, '\n', (size_t)(end - l->begin));
  l->end = newline ? newline : end;
  return 1;
}

/* The next word of a line from *at on, or NULL; *at is moved behind it. */
static char *next_word(const line *l, char **at, size_t *length) {
  while (*at < l->end && strchr(" \t\r\v\f", **at)) ++*at;
  char *begin = *at;
  while (*at < l->end && !strchr(" \t\r\v\f", **at)) ++*at;
  *length = (size_t)(*at - begin);
  return *length ? begin : NULL;
}

static int is_word(const char *word, size_t length, const char *what) {
  return word && length == strlen(what) && memcmp(word, what, length) == 0;
}

static int begins_with(const line *l, const char *what) {
  size_t length;
  char *at = l->begin;
  const char *word = next_word(l, &at, &length);
  return is_word(word, length, what);
}

static void blank(char *begin, const char *end) {
  if (begin < end) memset(begin, ' ', (size_t)(end - begin));
}

static void blank_comment(const line *l) {
  char *hash = memchr(l->begin, '#', (size_t)(l->end - l->begin));
  if (hash) blank(hash, l->end);
}

/* Moves *at behind three numbers; returns 0 where there are none. The readers would leave such a line out. */
static int three_numbers(const line *l, char **at) {
  for (int c = 0; c < 3; c++) {
    size_t length;
    char *end = NULL;
    const char *word = next_word(l, at, &length);
    if (!word || !isfinite(strtof(word, &end)) || end != word + length) return 0;
  }
  return 1;
}

/* ---- OBJ: says nowhere how much it holds, so it is counted ---- */

/* A corner is V, V/T, V//N or V/T/N, with whole numbers. Keeps the V of it, and blanks the rest. */
static int take_corner(char *word, size_t length, long long *vertex) {
  char *end;
  errno = 0;
  *vertex = strtoll(word, &end, 10);
  if (end == word || errno) return 0;
  char *const rest = end;
  for (int part = 1; part < 3 && end < word + length && *end == '/'; part++) {
    end++;
    if (*end == '-') end++;
    while (*end >= '0' && *end <= '9') end++;
  }
  if (end != word + length) return 0;
  blank(rest, end);
  return 1;
}

/* `before`: the vertices above this line, to which negative numbers refer. */
static int check_face(const char *name, const mesh_source *s, const line *l, int64_t number, int64_t before,
                      char message[MESH_MESSAGE]) {
  char *at = l->begin, *word;
  size_t length;
  next_word(l, &at, &length);
  int corners = 0;
  for (; (word = next_word(l, &at, &length)); corners++) {
    long long vertex;
    const int shown = (int)(length < 40 ? length : 40);
    if (!take_corner(word, length, &vertex))
      return mesh_fail(message,
                       "%s: line %lld: a face has the corner \"%.*s\", expected the number of a vertex", name,
                       (long long)number, shown, word);
    if (vertex == 0 || vertex > s->vertices || -vertex > before)
      return mesh_fail(message, "%s: line %lld: a face has the vertex %lld, expected one of 1 to %lld", name,
                       (long long)number, vertex, (long long)s->vertices);
  }
  if (corners < 3)
    return mesh_fail(message, "%s: line %lld: a face has %d corner%s, expected at least 3", name,
                     (long long)number, corners, corners == 1 ? "" : "s");
  return 0;
}

/* A backslash at the end of a line continues it on the next one. */
static void join_lines(const mesh_source *s) {
  line l = {0};
  while (next_line(s, &l)) {
    char *last = l.end;
    while (last > l.begin && last[-1] == '\r') last--;
    if (last > l.begin && last[-1] == '\\' && l.end < s->bytes + s->size) blank(last - 1, l.end + 1);
  }
}

/* Leaves the coordinates of vertices and the vertices of faces. Groups mean nothing here, materials would make
 * the reader look for other files, and a bad normal would make it stop. */
static int prepare_obj(const char *name, mesh_source *s, char message[MESH_MESSAGE]) {
  s->vertices = s->faces = 0;
  if (memchr(s->bytes, '\0', s->size))
    return mesh_fail(message, "%s: not an OBJ file: it holds bytes that are no text", name);
  join_lines(s);
  int64_t number = 1;
  for (line l = {0}; next_line(s, &l); number++) {
    size_t length;
    blank_comment(&l);
    char *at = l.begin;
    const char *word = next_word(&l, &at, &length);
    if (is_word(word, length, "f")) {
      s->faces++;
    } else if (is_word(word, length, "v")) {
      s->vertices++;
      if (!three_numbers(&l, &at))
        return mesh_fail(message, "%s: line %lld: expected three finite numbers after v, below 3.4e38", name,
                         (long long)number);
      blank(at, l.end);
    } else {
      blank(l.begin, l.end);
    }
  }
  if (s->vertices == 0 && s->faces == 0)
    return mesh_fail(message, "%s: not an OBJ file: no line begins with v or f", name);
  number = 1;
  int64_t vertices = 0;
  for (line l = {0}; next_line(s, &l); number++) {
    vertices += begins_with(&l, "v");
    if (begins_with(&l, "f") && check_face(name, s, &l, number, vertices, message)) return 1;
  }
  return 0;
}

/* ---- OFF ----
 * The reader expects no comments, the counts on a line of their own, and behind coordinates and faces only what
 * the keyword announces, whereas files have colours of faces after a plain OFF too. */

/* Moves *at behind a face: the number of its corners and as many words. */
static int take_face(const char *name, const line *l, char **at, int64_t number, char message[MESH_MESSAGE]) {
  size_t length;
  const char *word = next_word(l, at, &length);
  const long corners = strtol(word, NULL, 10);
  for (long k = 0; k < corners; k++)
    if (!next_word(l, at, &length))
      return mesh_fail(message, "%s: line %lld: a face of %ld corners has %ld", name, (long long)number,
                       corners, k);
  return 0;
}

/* Blanks what the reader does not need from the line behind the keyword on. */
static int prepare_off_lines(const char *name, mesh_source *s, line l, int64_t number,
                             char message[MESH_MESSAGE]) {
  int64_t vertices = -1, faces = -1;
  for (; next_line(s, &l); number++) {
    blank_comment(&l);
    size_t length;
    char *at = l.begin, *word = next_word(&l, &at, &length);
    if (!word) continue;
    if (vertices < 0) {
      char *end, *second = next_word(&l, &at, &length), *second_end = second;
      vertices = strtoll(word, &end, 10);
      if (second) faces = strtoll(second, &second_end, 10);
      if (end == word || second_end == second || vertices < 0 || faces < 0)
        return mesh_fail(message, "%s: line %lld: expected the numbers of vertices and faces", name,
                         (long long)number);
      continue;
    }
    at = l.begin;
    if (vertices > 0) {
      vertices--;
      if (!three_numbers(&l, &at))
        return mesh_fail(message, "%s: line %lld: expected three finite numbers, below 3.4e38", name,
                         (long long)number);
    } else if (faces > 0) {
      faces--;
      if (take_face(name, &l, &at, number, message)) return 1;
    }
    blank(at, l.end);
  }
  return vertices < 0 ? mesh_fail(message, "%s: cut short after OFF", name) : 0;
}

static int prepare_off(const char *name, mesh_source *s, char message[MESH_MESSAGE]) {
  line l = {0};
  size_t length = 0;
  char *word = NULL, *after = NULL;
  int64_t number = 0;
  while (!word && next_line(s, &l)) {
    blank_comment(&l);
    after = l.begin;
    word = next_word(&l, &after, &length);
    number++;
  }
  /* Before it ST, C and N may stand: what there is besides coordinates. 4 and n are other kinds of these. */
  if (!word || length < 3 || length > 7 || memcmp(word + length - 3, "OFF", 3) != 0 ||
      strspn(word, "STCN") != length - 3)
    return mesh_fail(message, "%s: not an OFF file of points in space: it does not begin with OFF", name);
  char *at = after;
  size_t next_length;
  const char *next = next_word(&l, &at, &next_length);
  if (is_word(next, next_length, "BINARY"))
    return mesh_fail(message, "%s: a binary OFF file; only those of text are read", name);
  blank(word, after);
  memcpy(s->bytes, "OFF", 3); /* the reader wants the keyword first */
  if (after == l.end) return prepare_off_lines(name, s, l, number + 1, message);
  *after = '\n';
  l.end = after;
  return prepare_off_lines(name, s, l, number, message);
}

/* ---- STL ---- */

enum { stl_header = 84, stl_facet = 50 };

/* The reader joins vertices at the same place, and NaN would be everywhere. */
static int prepare_binary_stl(const char *name, mesh_source *s, char message[MESH_MESSAGE]) {
  s->binary = 1;
  for (int64_t f = 0; f < s->faces; f++)
    for (size_t i = 0; i < 9; i++) {
      float coordinate;
      memcpy(&coordinate, s->bytes + stl_header + stl_facet * f + sizeof coordinate * (3 + i),
             sizeof coordinate);
      if (!isfinite(coordinate))
        return mesh_fail(message, "%s: triangle %lld of %lld: a coordinate is %g", name, (long long)f + 1,
                         (long long)s->faces, (double)coordinate);
    }
  return 0;
}

static int prepare_text_stl(const char *name, mesh_source *s, char message[MESH_MESSAGE]) {
  int ended = 0;
  int64_t number = 1, corners = 0;
  s->faces = 0;
  for (line l = {0}; next_line(s, &l); number++) {
    size_t length;
    char *at = l.begin;
    const char *word = next_word(&l, &at, &length);
    if (!word) continue;
    s->faces += is_word(word, length, "facet");
    ended = is_word(word, length, "endsolid");
    if (!is_word(word, length, "vertex")) continue;
    corners++;
    if (!three_numbers(&l, &at))
      return mesh_fail(message, "%s: line %lld: expected three finite numbers after vertex, below 3.4e38", name,
                       (long long)number);
  }
  if (!ended) return mesh_fail(message, "%s: cut short: it does not end with endsolid", name);
  if (corners != 3 * s->faces)
    return mesh_fail(message, "%s: %lld vertices in %lld facets, expected three in each", name,
                     (long long)corners, (long long)s->faces);
  return 0;
}

static int prepare_stl(const char *name, mesh_source *s, char message[MESH_MESSAGE]) {
  uint32_t facets = 0;
  for (size_t i = 0; i < 4 && s->size >= stl_header; i++)
    facets |= (uint32_t)(unsigned char)s->bytes[80 + i] << 8 * i;
  const uint64_t expected = stl_header + (uint64_t)stl_facet * facets;
  s->faces = facets;
  if (s->size >= stl_header && s->size == expected) return prepare_binary_stl(name, s, message);
  line l = {0};
  const int text = !memchr(s->bytes, '\0', s->size);
  if (text && next_line(s, &l) && begins_with(&l, "solid")) return prepare_text_stl(name, s, message);
  if (text || s->size < stl_header)
    return mesh_fail(message, "%s: not an STL file: neither a binary one nor text that begins with solid",
                     name);
  return mesh_fail(
      message,
      "%s: cut short, or not an STL file: it has %zu bytes, expected %llu for the %u triangles it announces",
      name, s->size, (unsigned long long)expected, facets);
}

/* ---- PLY ---- */

static int prepare_ply(const char *name, mesh_source *s, char message[MESH_MESSAGE]) {
  line l = {0};
  if (!next_line(s, &l) || !begins_with(&l, "ply"))
    return mesh_fail(message, "%s: not a PLY file: it does not begin with ply", name);
  while (next_line(s, &l))
    if (begins_with(&l, "end_header")) return 0;
  return mesh_fail(message, "%s: cut short: the header has no end", name);
}

/* ---- All of them ---- */

static int read_bytes(const char *path, const char *name, mesh_source *s, char message[MESH_MESSAGE]) {
  FILE *file = fopen(path, "rb");
  if (!file) return mesh_fail(message, "%s: %s", name, strerror(errno));
  int error = 0;
  struct stat status;
  if (fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) error = EISDIR;
  /* A pipe has no size to ask for, so the bytes are taken as they come; two are kept for a last newline
   * and the end of the string. */
  for (size_t capacity = 0; !error;) {
    if (s->size + 2 >= capacity) {
      capacity = capacity ? 2 * capacity : (size_t)1 << 16;
      char *larger = realloc(s->bytes, capacity);
      if (!larger) {
        error = ENOMEM;
        break;
      }
      s->bytes = larger;
    }
    const size_t got = fread(s->bytes + s->size, 1, capacity - 2 - s->size, file);
    s->size += got;
    if (got) continue;
    if (ferror(file)) error = errno ? errno : EIO;
    break;
  }
  fclose(file);
  if (s->bytes) s->bytes[s->size] = '\0';
  if (error) return mesh_fail(message, "%s: %s", name, strerror(error));
  return s->size ? 0 : mesh_fail(message, "%s: the file is empty", name);
}

int mesh_source_open(const char *path, mesh_source *source, char message[MESH_MESSAGE]) {
  static int (*const prepare[MESH_FORMATS])(const char *, mesh_source *, char *) = {prepare_obj, prepare_ply,
                                                                                    prepare_off, prepare_stl};
  *source = (mesh_source){.format = mesh_format_of(path), .vertices = -1, .faces = -1};
  const char *const name = mesh_source_name(path);
  if (source->format == MESH_FORMATS)
    return mesh_fail(message, "%s: expected a name that ends in .obj, .ply, .off or .stl", name);
  if (read_bytes(path, name, source, message) || prepare[source->format](name, source, message)) {
    mesh_source_close(source);
    return 1;
  }
  /* So that the last number ends before the file does. */
  source->bytes[source->size++] = '\n';
  source->bytes[source->size] = '\0';
  return 0;
}

void mesh_source_close(mesh_source *source) {
  free(source->bytes);
  source->bytes = NULL;
  source->size = 0;
}
