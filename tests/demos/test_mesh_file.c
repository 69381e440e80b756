/* Mesh files: written files are read back, files of other programs are accepted, and faults are named. Needs no
 * device. The files are in a temporary directory, which is removed afterwards. */
#include "test.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mesh_file.h"
#include "mesh_generate.h"
#include "mesh_repair.h"

static char directory[] = "/tmp/texsolve-mesh-XXXXXX";
static char message[MESH_MESSAGE];

/* The path of a file in the directory, valid until the eighth call from now. */
static const char *in_directory(const char *name) {
  static char paths[8][320];
  static unsigned next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", directory, name);
  return path;
}

static const char *file_of(const char *name, const void *bytes, size_t size) {
  const char *path = in_directory(name);
  FILE *file = fopen(path, "wb");
  CHECK(file && fwrite(bytes, 1, size, file) == size);
  if (file) fclose(file);
  return path;
}

static char *bytes_of(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *bytes = calloc(1, 1 << 20);
  *size = file && bytes ? fread(bytes, 1, 1 << 20, file) : 0;
  if (file) fclose(file);
  return bytes;
}

static int files_there(void) {
  DIR *d = opendir(directory);
  int count = 0;
  for (const struct dirent *e; d && (e = readdir(d));) count += e->d_name[0] != '.';
  if (d) closedir(d);
  return count;
}

static void empty_directory(void) {
  DIR *d = opendir(directory);
  for (const struct dirent *e; d && (e = readdir(d));)
    if (e->d_name[0] != '.') remove(in_directory(e->d_name));
  if (d) closedir(d);
}

static void check_indices(const mesh *m) {
  for (int32_t i = 0; i < 3 * m->triangle_count; i++)
    if (!CHECK(m->triangles[i] >= 0 && m->triangles[i] < m->vertex_count)) break;
}

/* ---- Round trips ---- */

/* A scan with an unused vertex in the middle. */
static void make_sample(mesh *m) {
  mesh scan;
  if (!CHECK(mesh_generate("scan:900", &scan, message) == 0)) exit(1);
  if (!CHECK(mesh_create(scan.vertex_count + 1, scan.triangle_count, m, message) == 0)) exit(1);
  for (int32_t v = 0; v < m->vertex_count; v++)
    for (int c = 0; c < 3; c++)
      m->positions[3 * v + c] = v == 7 ? 3.25 + c : scan.positions[3 * (v - (v > 7)) + c] * 123.4 - 1000;
  for (int32_t i = 0; i < 3 * m->triangle_count; i++)
    m->triangles[i] = scan.triangles[i] + (scan.triangles[i] >= 7);
  mesh_destroy(&scan);
}

static void round_trip(void) {
  mesh m, again;
  mesh_file_report report;
  make_sample(&m);
  for (int f = 0; f < 3; f++) {
    const char *path = in_directory((const char *const[]){"a.obj", "a.PLY", "a.off"}[f]);
    test_context_label("%s", path);
    if (!CHECK(mesh_file_write(path, &m, message) == 0) ||
        !CHECK(mesh_file_read(path, &again, &report, message) == 0))
      continue;
    CHECK_INT(again.vertex_count, m.vertex_count);
    CHECK_INT(again.triangle_count, m.triangle_count);
    CHECK_INT(report.faces, m.triangle_count);
    CHECK_INT(report.polygons + report.left_out, 0);
    CHECK(again.origin[0] == 0 && again.origin[1] == 0 && again.origin[2] == 0);
    CHECK(memcmp(again.triangles, m.triangles, sizeof *m.triangles * 3 * (size_t)m.triangle_count) == 0);
    for (int32_t i = 0; i < 3 * m.vertex_count; i++)
      if (!CHECK((float)again.positions[i] == (float)m.positions[i])) break;
    mesh_destroy(&again);
  }
  test_context_label("stl");
  const char *path = in_directory("a.stl");
  if (CHECK(mesh_file_write(path, &m, message) == 0) &&
      CHECK(mesh_file_read(path, &again, &report, message) == 0)) {
    CHECK_INT(again.vertex_count, m.vertex_count - 1);
    CHECK_INT(again.triangle_count, m.triangle_count);
    for (int32_t i = 0; i < 3 * again.triangle_count; i++)
      for (int c = 0; c < 3; c++)
        if (!CHECK((float)again.positions[3 * again.triangles[i] + c] ==
                   (float)m.positions[3 * m.triangles[i] + c]))
          i = INT32_MAX - 1;
    mesh_destroy(&again);
  }
  test_context_label("%s", "");
  mesh_destroy(&m);
}

/* A coordinate with few digits is read as exactly that number, through files of any format. */
static void digits(void) {
  static const char text[] = "v 0.081561 -1002.33 1e-7\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
  const char *path = file_of("digits.obj", text, strlen(text));
  for (int f = 0; f < 5; f++) {
    mesh m;
    test_context_label("%s", path);
    if (!CHECK(mesh_file_read(path, &m, NULL, message) == 0)) return;
    CHECK(m.positions[0] == 0.081561 && m.positions[1] == -1002.33 && m.positions[2] == 1e-7);
    path = in_directory((const char *const[]){"d.obj", "d.ply", "d.off", "d.stl", "e.obj"}[f]);
    CHECK(mesh_file_write(path, &m, message) == 0);
    mesh_destroy(&m);
  }
  test_context_label("%s", "");
}

/* A mesh of size 2 at large eastings and northings. With `vertical` the axes are reordered, so that the third
 * one is height. */
static void write_far_file(const mesh *m, int vertical) {
  FILE *file = fopen(in_directory("far.obj"), "w");
  if (!CHECK(file != NULL)) exit(1);
  for (int32_t v = 0; v < m->vertex_count; v++)
    for (int c = 0; c < 3; c++)
      fprintf(file, "%s%.17g%c", c ? "" : "v ",
              m->positions[3 * v + c] + (c == vertical ? 0
                                         : c == 0      ? 512345.678901
                                                       : -5412345.25),
              c < 2 ? ' ' : '\n');
  for (int32_t t = 0; t < m->triangle_count; t++)
    fprintf(file, "f %d %d %d\n", (int)m->triangles[3 * t] + 1, (int)m->triangles[3 * t + 1] + 1,
            (int)m->triangles[3 * t + 2] + 1);
  fclose(file);
}

/* The largest distance between coordinates as they are in the file. */
static double apart(const mesh *a, const mesh *b) {
  double most = 0;
  for (int32_t i = 0; i < 3 * a->triangle_count; i++)
    for (int c = 0; c < 3; c++)
      most = fmax(most, fabs(a->positions[3 * a->triangles[i] + c] + a->origin[c] -
                             (b->positions[3 * b->triangles[i] + c] + b->origin[c])));
  return most;
}

/* Far from 0 no vertex moves and none are merged, in any format. The mesh in memory is near 0. */
static void far(void) {
  mesh scan;
  REQUIRE(mesh_generate("scan:3000", &scan, message) == 0);
  for (int32_t i = 0; i < 3 * scan.vertex_count; i++) scan.positions[i] += 1e-9 * (i % 100);
  for (int vertical = 1; vertical < 4; vertical++) {
    mesh first, again;
    mesh_repair_report repair;
    write_far_file(&scan, vertical);
    test_context_label("read");
    if (!CHECK(mesh_file_read(in_directory("far.obj"), &first, NULL, message) == 0)) continue;
    CHECK_INT(first.vertex_count, scan.vertex_count);
    for (int c = 0; c < 3; c++) CHECK((first.origin[c] == 0) == (c == vertical));
    double moved = 0, largest = 0;
    for (int32_t i = 0; i < 3 * scan.vertex_count; i++) {
      const int c = i % 3;
      const double there = scan.positions[i] + (c == vertical ? 0 : c == 0 ? 512345.678901 : -5412345.25);
      moved = fmax(moved, fabs(first.positions[i] + first.origin[c] - there));
      largest = fmax(largest, fabs(first.positions[i]));
    }
    CHECK(moved == 0);
    CHECK(largest < 8);
    for (int f = 0; f < MESH_FORMATS; f++) {
      const char *path = in_directory((const char *const[]){"f.obj", "f.ply", "f.off", "f.stl"}[f]);
      test_context_label("%s", path);
      if (!CHECK(mesh_file_write(path, &first, message) == 0) ||
          !CHECK(mesh_file_read(path, &again, NULL, message) == 0))
        continue;
      CHECK_INT(again.vertex_count, first.vertex_count);
      CHECK_INT(again.triangle_count, first.triangle_count);
      if (again.triangle_count == first.triangle_count) CHECK(apart(&first, &again) == 0);
      CHECK(mesh_repair(&again, NULL, &repair, NULL, message) == 0 && repair.merged_vertices == 0);
      mesh_destroy(&again);
    }
    mesh_destroy(&first);
  }
  test_context_label("%s", "");
  mesh_destroy(&scan);
}

/* ---- Files of other programs ---- */

#define PLY_HEADER(format, scalar)                                                                             \
  "ply\nformat " format " 1.0\ncomment by hand\nelement camera 1\nproperty float view\nelement vertex 4\n"     \
  "property uchar red\nproperty " scalar " x\nproperty " scalar " y\nproperty " scalar " z\n"                  \
  "element face 2\nproperty list uchar int vertex_indices\nend_header\n"

/* The four corners of a square, as a triangle and a quadrilateral. */
static const struct {
  const char *name, *bytes;
  size_t size; /* 0: text */
} squares[] = {
    {"plain.obj", "v 0 0 0\nv 1 0 0\nv 1 1 .5\nv 0 1 0\nf 1 2 3\nf 1 2 3 4\n", 0},
    {"rich.obj",
     "# comment\r\nmtllib missing.mtl\r\no thing\r\nv 0 0 0\r\n  v\t1 0 0 0.5 0.5 0.5\r\nvt 0 0\r\nvn nan 0 "
     "1\r\n"
     "v 1 1 0.5 1.0 # a weight\r\ng group\r\nusemtl red\r\ns off\r\nv 0 1 0\r\nf 1/1/1 2//1 3/1\r\n\r\nf -4 -3 "
     "\\\r\n-2 -1",
     0},
    {"plain.off", "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0.5\n0 1 0\n3 0 1 2\n4 0 1 2 3", 0},
    {"rich.off",
     "# first\n\nSTCNOFF 4 2 5 # counts\n# more\n\n0 0 0\n1 0 0 # x\n\n1 1 5e-1\n0 1 0\n3  0 1 2 255 0 0\r\n4 "
     "0 1 "
     "2 3\n\n",
     0},
    {"lower.off", "off\n4 2 0\n0 0 0\n1 0 0\n1 1 0.5\n0 1 0\n3 0 1 2\n4 0 1 2 3", 0},
    {"lower-colours.off", "coff 4 2 0\n0 0 0 9\n1 0 0 9\n1 1 0.5 9\n0 1 0 9\n3 0 1 2\n4 0 1 2 3", 0},
    {"ascii.ply", PLY_HEADER("ascii", "double") "9\n1 0 0 0\n2 1 0 0\n3 1 1 0.5\n4 0 1 0\n3 0 1 2\n4 0 1 2 3",
     0},
    {"little.ply",
     PLY_HEADER("binary_little_endian", "float") "\0\0\0\0"
                                                 "\1\0\0\0\0\0\0\0\0\0\0\0\0"
                                                 "\1\0\0\x80\x3f\0\0\0\0\0\0\0\0"
                                                 "\1\0\0\x80\x3f\0\0\x80\x3f\0\0\0\x3f"
                                                 "\1\0\0\0\0\0\0\x80\x3f\0\0\0\0"
                                                 "\3\0\0\0\0\1\0\0\0\2\0\0\0"
                                                 "\4\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0",
     sizeof PLY_HEADER("binary_little_endian", "float") - 1 + 4 + 4 * 13 + 13 + 17},
    {"big.ply",
     PLY_HEADER("binary_big_endian", "float") "\0\0\0\0"
                                              "\1\0\0\0\0\0\0\0\0\0\0\0\0"
                                              "\1\x3f\x80\0\0\0\0\0\0\0\0\0\0"
                                              "\1\x3f\x80\0\0\x3f\x80\0\0\x3f\0\0\0"
                                              "\1\0\0\0\0\x3f\x80\0\0\0\0\0\0"
                                              "\3\0\0\0\0\0\0\0\1\0\0\0\2"
                                              "\4\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0\3",
     sizeof PLY_HEADER("binary_big_endian", "float") - 1 + 4 + 4 * 13 + 13 + 17},
};

static void check_square(const char *path) {
  static const double positions[] = {0, 0, 0, 1, 0, 0, 1, 1, 0.5, 0, 1, 0};
  static const int32_t triangles[] = {0, 1, 2, 0, 1, 2, 0, 2, 3};
  mesh m;
  mesh_file_report report;
  if (mesh_file_read(path, &m, &report, message)) {
    test_fail(__FILE__, __LINE__, "%s", message);
    return;
  }
  CHECK_INT(report.faces, 2);
  CHECK_INT(report.polygons, 1);
  if (CHECK(m.vertex_count == 4 && m.triangle_count == 3)) {
    CHECK(memcmp(m.positions, positions, sizeof positions) == 0);
    CHECK(memcmp(m.triangles, triangles, sizeof triangles) == 0);
  }
  mesh_destroy(&m);
}

/* The path of a file that begins with a byte order mark. */
static const char *marked_file_of(const char *name, const char *bytes, size_t size) {
  char marked[1000] = "\xef\xbb\xbf";
  if (!CHECK(size < sizeof marked - 3)) exit(1);
  memcpy(marked + 3, bytes, size);
  return file_of(name, marked, size + 3);
}

static void read_squares(void) {
  for (size_t i = 0; i < sizeof squares / sizeof squares[0]; i++) {
    const size_t size = squares[i].size ? squares[i].size : strlen(squares[i].bytes);
    test_context_label("%s", squares[i].name);
    check_square(file_of(squares[i].name, squares[i].bytes, size));
    test_context_label("%s with a byte order mark", squares[i].name);
    check_square(marked_file_of(squares[i].name, squares[i].bytes, size));
  }
  test_context_label("%s", "");
}

/* The square and a triangle as strips: in one list with -1 between them or in two lists, one of them with a
 * triangle that has a vertex twice. Every second triangle of a strip is reversed. In an unsigned type -1 is the
 * largest number. */
#define STRIPS_HEADER(format, scalar, lists)                                                                   \
  "ply\nformat " format " 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"       \
  "element tristrips " lists "\nproperty list int " scalar " vertex_indices\nend_header\n"
#define BIG_VERTICES                                                                                           \
  "\0\0\0\0\0\0\0\0\0\0\0\0"                                                                                   \
  "\x3f\x80\0\0\0\0\0\0\0\0\0\0"                                                                               \
  "\x3f\x80\0\0\x3f\x80\0\0\x3f\0\0\0"                                                                         \
  "\0\0\0\0\x3f\x80\0\0\0\0\0\0"

#define BIG_STRIPS "\0\0\0\x08\0\0\0\0\0\0\0\1\0\0\0\3\0\0\0\2\xff\xff\xff\xff\0\0\0\0\0\0\0\1\0\0\0\2"

static const struct {
  const char *name, *bytes;
  size_t size;
} strips[] = {
    {"text.ply", STRIPS_HEADER("ascii", "int", "1") "0 0 0\n1 0 0\n1 1 .5\n0 1 0\n9 0 1 3 2 -1 0 1 2 2\n", 0},
    {"two.ply", STRIPS_HEADER("ascii", "int", "2") "0 0 0\n1 0 0\n1 1 .5\n0 1 0\n4 0 1 3 2\n3 0 1 2\n", 0},
    {"big.ply", STRIPS_HEADER("binary_big_endian", "int", "1") BIG_VERTICES BIG_STRIPS,
     sizeof STRIPS_HEADER("binary_big_endian", "int", "1") - 1 + 48 + 36},
    {"unsigned.ply", STRIPS_HEADER("binary_big_endian", "uint", "1") BIG_VERTICES BIG_STRIPS,
     sizeof STRIPS_HEADER("binary_big_endian", "uint", "1") - 1 + 48 + 36},
    {"little.ply",
     STRIPS_HEADER("binary_little_endian", "short", "1") "\0\0\0\0\0\0\0\0\0\0\0\0"
                                                         "\0\0\x80\x3f\0\0\0\0\0\0\0\0"
                                                         "\0\0\x80\x3f\0\0\x80\x3f\0\0\0\x3f"
                                                         "\0\0\0\0\0\0\x80\x3f\0\0\0\0"
                                                         "\x08\0\0\0\0\0\1\0\3\0\2\0\xff\xff\0\0\1\0\2\0",
     sizeof STRIPS_HEADER("binary_little_endian", "short", "1") - 1 + 48 + 20},
};

static void read_strips(void) {
  static const double positions[] = {0, 0, 0, 1, 0, 0, 1, 1, 0.5, 0, 1, 0};
  static const int32_t triangles[] = {0, 1, 3, 3, 1, 2, 0, 1, 2};
  for (size_t i = 0; i < sizeof strips / sizeof strips[0]; i++) {
    const size_t size = strips[i].size ? strips[i].size : strlen(strips[i].bytes);
    mesh m;
    test_context_label("%s", strips[i].name);
    if (mesh_file_read(file_of(strips[i].name, strips[i].bytes, size), &m, NULL, message)) {
      test_fail(__FILE__, __LINE__, "%s", message);
      continue;
    }
    if (CHECK(m.vertex_count == 4 && m.triangle_count == 3)) {
      CHECK(memcmp(m.positions, positions, sizeof positions) == 0);
      CHECK(memcmp(m.triangles, triangles, sizeof triangles) == 0);
    }
    mesh_destroy(&m);
  }
  test_context_label("%s", "");
}

static const char text_stl[] = "solid two triangles\n facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   "
                               "vertex 1 0 0\n   vertex 1 1 0.5\n  endloop\n"
                               " endfacet\n facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   vertex 1 1 "
                               "0.5\n   vertex 0 1 0\n  endloop\n endfacet\n"
                               "endsolid two triangles\n";

static void check_stl(const char *path, int ignored_bytes) {
  static const int32_t triangles[] = {0, 1, 2, 0, 2, 3};
  mesh m;
  mesh_file_report report;
  if (mesh_file_read(path, &m, &report, message)) {
    test_fail(__FILE__, __LINE__, "%s", message);
    return;
  }
  CHECK_INT(report.ignored_bytes, ignored_bytes);
  if (CHECK(m.vertex_count == 4 && m.triangle_count == 2))
    CHECK(memcmp(m.triangles, triangles, sizeof triangles) == 0 && m.positions[8] == 0.5);
  mesh_destroy(&m);
}

/* Some programs write text in upper case. */
static void stl_as_text(void) {
  char capitals[sizeof text_stl];
  for (size_t i = 0; i < sizeof text_stl; i++) capitals[i] = (char)toupper((unsigned char)text_stl[i]);
  check_stl(file_of("text.stl", text_stl, strlen(text_stl)), 0);
  check_stl(marked_file_of("text.stl", text_stl, strlen(text_stl)), 0);
  test_context_label("capitals");
  check_stl(file_of("capitals.stl", capitals, strlen(capitals)), 0);
  test_context_label("%s", "");
}

/* Bytes after the last triangle of a binary file are ignored and reported. */
static void binary_stl(void) {
  mesh m;
  size_t size;
  if (!CHECK(mesh_file_read(file_of("text.stl", text_stl, strlen(text_stl)), &m, NULL, message) == 0)) return;
  CHECK(mesh_file_write(in_directory("binary.stl"), &m, message) == 0);
  mesh_destroy(&m);
  char *bytes = bytes_of(in_directory("binary.stl"), &size);
  for (int k = 0; k < 3; k++) {
    const int more = (const int[]){0, 2, 100}[k];
    test_context_label("%d bytes more", more);
    check_stl(file_of("binary.stl", bytes, size + (size_t)more), more);
  }
  test_context_label("%s", "");
  free(bytes);
}

/* Faces that cannot become triangles are reported. */
static void left_out(void) {
  static const char text[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 1 2\nf 1 2 3\nf 2 2 2\n";
  mesh m;
  mesh_file_report report;
  REQUIRE(mesh_file_read(file_of("twice.obj", text, strlen(text)), &m, &report, message) == 0);
  CHECK_INT(m.triangle_count, 1);
  CHECK_INT(report.faces, 3);
  CHECK_INT(report.left_out, 2);
  mesh_destroy(&m);
}

/* ---- Faulty files ---- */

static const struct {
  const char *name, *text, *part;
} wrong[] = {
    {"empty.obj", "", "the file is empty"},
    {"empty.ply", "", "the file is empty"},
    {"empty.off", "", "the file is empty"},
    {"empty.stl", "", "the file is empty"},
    {"letter.obj", "Dear Sir or Madam,\nplease find enclosed\n", "not an OBJ file"},
    {"letter.ply", "Dear Sir or Madam,\n", "not a PLY file"},
    {"letter.off", "Dear Sir or Madam,\n", "not an OFF file"},
    {"letter.stl", "Dear Sir or Madam,\n", "not an STL file"},
    {"comments.off", "# nothing\n\n# more\n", "not an OFF file"},
    {"letter.txt", "Dear Sir or Madam,\n", "expected a name that ends in .obj, .ply, .off or .stl"},
    {"nan.obj", "v 0 0 0\n\nv 1 nan 0\nv 0 1 0\nf 1 2 3\n", "line 3: expected three finite numbers after v"},
    {"inf.obj", "v 0 0 0\nv 1 0 0\nv 0 1 inf\nf 1 2 3\n", "line 3: expected three finite numbers"},
    {"large.obj", "v 0 0 0\nv 1 0 0\nv 0 1 1e99\nf 1 2 3\n", "line 3: expected three finite numbers"},
    {"two.obj", "v 0 0 0\nv 1 0\nv 0 1 0\nf 1 2 3\n", "line 2: expected three finite numbers"},
    {"word.obj", "v 0 0 0\nv 1 zero 0\nv 0 1 0\nf 1 2 3\n", "line 2: expected three finite numbers"},
    {"high.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 2 4\n",
     "line 5: a face has the vertex 4, expected one of 1 to 3"},
    {"zero.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n", "line 4: a face has the vertex 0"},
    {"before.obj", "v 0 0 0\nv 1 0 0\nf -3 -2 -1\nv 0 1 0\n", "line 3: a face has the vertex -3"},
    {"huge.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999999\n", "line 4: a face has the vertex 99999999999"},
    {"garbage.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 x3\n", "line 4: a face has the corner \"x3\""},
    {"half.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 2.5\n", "line 4: a face has the corner \"2.5\""},
    {"line.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n", "line 4: a face has 2 corners, expected at least 3"},
    {"points.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", "no faces"},
    {"faces.obj", "f 1 2 3\n", "line 1: a face has the vertex 1"},
    {"nan.off", "OFF\n3 1 0\n0 0 0\n1 nan 0\n0 1 0\n3 0 1 2\n", "line 4: expected three finite numbers"},
    {"high.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n",
     "face 1 of 1 has the vertex 3, expected one of 0 to 2"},
    {"low.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n", "face 1 of 1 has the vertex -1"},
    {"short.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1\n", "line 6: a face of 3 corners has 2"},
    {"four.off", "4OFF\n1 0 0\n0 0 0 1\n", "not an OFF file of points in space"},
    {"keyword.off", "OFF", "cut short after OFF"},
    {"line.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n2 0 1\n", "face 1 of 1 has 2 corners"},
    {"word.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 one 2\n",
     "face 1 of 1: expected the numbers of its vertices"},
    {"fewer.off", "OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "cut short at face 2 of 2"},
    {"huge.off", "OFF\n4000000000 1 0\n0 0 0\n", "announces 4000000000 vertices and 1 faces"},
    {"minus.off", "OFF\n-3 1 0\n0 0 0\n", "line 2: expected the numbers of vertices and faces"},
    {"none.off", "OFF\n0 0 0\n", "no vertices"},
    {"points.off", "OFF\n1 0 0\n0 0 0\n", "no faces"},
    {"words.off", "OFF\nthree one zero\n", "line 2: expected the numbers of vertices and faces"},
    {"binary.off", "OFF BINARY\n", "a binary OFF file"},
    {"header.ply", "ply\nformat ascii 1.0\nelement vertex 3\n", "cut short: the header has no end"},
    {"format.ply", "ply\nformat morse 1.0\nelement vertex 3\nend_header\n",
     "line 2: the format \"morse\", expected ascii"},
    {"orphan.ply", "ply\nformat ascii 1.0\nproperty float x\nelement vertex 3\nend_header\n",
     "line 3: a property before the first element"},
    {"elemnt.ply",
     "ply\nformat ascii 1.0\nelemnt vertex 3\nproperty float x\nproperty float y\nproperty float "
     "z\nend_header\n",
     "line 3: \"elemnt vertex...\", expected element NAME COUNT"},
    {"type.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty floaty x\nend_header\n",
     "line 4: the type \"floaty\""},
    {"length.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty list float int x\nend_header\n",
     "line 4: a list whose length is a float"},
    {"short.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty list int x\nend_header\n",
     "line 4: \"property"},
    {"count.ply", "ply\nformat ascii 1.0\nelement vertex three\nend_header\n", "line 3: \"three\""},
    {"minus.ply", "ply\nformat ascii 1.0\nelement vertex -3\nend_header\n", "line 3: \"-3\""},
    {"many.ply", "ply\nformat ascii 1.0\nelement vertex 99999999999999999999\nend_header\n", "line 3: \"9999"},
    {"none.ply", "ply\nformat ascii 1.0\nend_header\n", "no vertices"},
    {"unknown.ply", "ply\nelement vertex 1\nproperty float x\nend_header\n1\n",
     "line 4: the header ends without a line that names the format"},
    {"flat.ply",
     "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nelement face 1\nproperty "
     "list uchar "
     "int vertex_indices\nend_header\n1 2\n1 0\n",
     "its vertices have no property z"},
    {"grid.ply",
     "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nelement "
     "range_grid "
     "2\nproperty list uchar int vertex_indices\nend_header\n1 2 3\n0\n1 0\n",
     "no faces; its elements are vertex (1) and range_grid (2)"},
    {"lists.ply",
     "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nelement "
     "face "
     "1\nproperty int vertex\nend_header\n1 2 3\n0\n",
     "its element face has no list vertex_indices"},
    {"strip.ply",
     "ply\nformat ascii 1.0\nelement tristrips 1\nproperty list uchar int vertex_indices\nelement vertex "
     "3\nproperty float "
     "x\nproperty float y\nproperty float z\nend_header\n5 0 1 2 -1 3\n0 0 0\n1 0 0\n0 1 0\n",
     "tristrips 1 of 1 has the vertex 3, expected one of 0 to 2, or -1 between strips"},
    {"length2.ply",
     "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nelement "
     "face "
     "1\nproperty list int int vertex_indices\nend_header\n1 2 3\n-3 1 2 3\n",
     "face 1 of 1: a list of -3 numbers"},
    {"nan.ply", PLY_HEADER("ascii", "float") "9\n1 0 0 0\n2 1 nan 0\n3 1 1 0\n4 0 1 0\n3 0 1 2\n3 0 2 3\n",
     "vertex 2 of 4"},
    {"high.ply", PLY_HEADER("ascii", "float") "9\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n3 0 1 2\n3 0 2 4\n",
     "face 2 of 2 has the vertex 4, expected one of 0 to 3"},
    {"line.ply", PLY_HEADER("ascii", "float") "9\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n3 0 1 2\n2 0 2\n",
     "face 2 of 2 has 2 corners"},
    {"fewer.ply", PLY_HEADER("ascii", "float") "9\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n3 0 1 2\n",
     "cut short at face 2 of 2"},
    {"nan.stl",
     "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 nan 0\nvertex 0 1 "
     "0\nendloop\nendfacet\nendsolid\n",
     "line 5: expected three finite numbers"},
    {"quad.stl",
     "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 "
     "0\nendloop\nendfacet\nendsolid\n",
     "4 vertices in 1 facets"},
};

/* Reading fails with one line that begins with the name of the file and contains `part`, and leaves an empty
 * mesh. */
static void check_refused(const char *path, const char *part) {
  mesh m;
  message[0] = '\0';
  if (!CHECK(mesh_file_read(path, &m, NULL, message) == 1)) {
    mesh_destroy(&m);
    return;
  }
  CHECK(m.positions == NULL && m.vertex_count == 0);
  CHECK_CONTAINS(message, part);
  CHECK(strncmp(message, path, strlen(path)) == 0 && !strchr(message, '\n'));
}

static void test_wrong(void) {
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    test_context_label("%s", wrong[i].name);
    check_refused(file_of(wrong[i].name, wrong[i].text, strlen(wrong[i].text)), wrong[i].part);
  }
  test_context_label("binary");
  static const unsigned char nan_bytes[] = {0, 0, 0xc0, 0x7f};
  mesh m;
  REQUIRE(mesh_generate("sphere:12", &m, message) == 0);
  for (int stl = 0; stl < 2; stl++) {
    size_t size;
    const char *path = in_directory(stl ? "nan.stl" : "nan.ply");
    CHECK(mesh_file_write(path, &m, message) == 0);
    char *bytes = bytes_of(path, &size);
    char *header_end = stl ? bytes + 80 : strstr(bytes, "end_header\n") + 11;
    memcpy(stl ? header_end + 4 + 50 + 12 : header_end + 12 + 4, nan_bytes, 4);
    check_refused(file_of(stl ? "nan.stl" : "nan.ply", bytes, size),
                  stl ? "triangle 2 of 20: a coordinate is nan" : "vertex 2 of 12: a coordinate is NaN");
    free(bytes);
  }
  mesh_destroy(&m);
  test_context_label("%s", "");
  check_refused(file_of("zero.obj", "v 0 0 0\0\1\2", 10), "not an OBJ file");
  check_refused(in_directory("missing.obj"), "No such file");
  REQUIRE(mkdir(in_directory("directory.obj"), 0700) == 0);
  check_refused(in_directory("directory.obj"), "Is a directory");
  CHECK(rmdir(in_directory("directory.obj")) == 0);
  char path[400];
  snprintf(path, sizeof path, "%s/%0300d.obj", directory, 0);
  CHECK(mesh_file_read(path, &m, NULL, message) == 1);
  CHECK_CONTAINS(message, "too long");
}

/* ---- Files truncated at every byte ---- */

/* `sure`: from this size on, a truncated file may look complete. */
static void check_cuts(const char *name, const char *bytes, size_t size, size_t sure) {
  test_context_label("%s", name);
  int read = 0;
  for (size_t cut = 0; cut < size; cut++) {
    mesh m;
    if (mesh_file_read(file_of(name, bytes, cut), &m, NULL, message)) {
      if (!CHECK(strncmp(message, directory, strlen(directory)) == 0 && !strchr(message, '\n'))) break;
      continue;
    }
    read++;
    check_indices(&m);
    mesh_destroy(&m);
    if (cut < sure) {
      test_fail(__FILE__, __LINE__, "the first %zu of %zu bytes are taken for a whole file", cut, size);
      break;
    }
  }
  CHECK(read > 0 || sure >= size);
  test_context_label("%s", "");
}

static void cut_files(void) {
  mesh m;
  size_t size;
  REQUIRE(mesh_generate("sphere:12", &m, message) == 0);
  for (int f = 0; f < 4; f++) {
    const char *name = (const char *const[]){"cut.obj", "cut.ply", "cut.off", "cut.stl"}[f];
    CHECK(mesh_file_write(in_directory(name), &m, message) == 0);
    char *bytes = bytes_of(in_directory(name), &size);
    size_t sure = size;
    if (f == 0) sure = (size_t)(strstr(bytes, "\nf ") - bytes) + 8; /* OBJ does not state its number of faces */
    if (f == 2) sure = size - 3;                                    /* "11" and "1" are both numbers */
    check_cuts(name, bytes, size, sure);
    free(bytes);
  }
  mesh_destroy(&m);
  check_cuts("cut-text.stl", text_stl, strlen(text_stl), (size_t)(strstr(text_stl, "endsolid") - text_stl) + 8);
  for (size_t i = 2; i < sizeof squares / sizeof squares[0]; i++) {
    size = squares[i].size ? squares[i].size : strlen(squares[i].bytes);
    if (strcmp(squares[i].name, "rich.off") != 0) check_cuts(squares[i].name, squares[i].bytes, size, size);
  }
  for (size_t i = 0; i < sizeof strips / sizeof strips[0]; i++) {
    size = strips[i].size ? strips[i].size : strlen(strips[i].bytes) - 1;
    check_cuts(strips[i].name, strips[i].bytes, size, size);
  }
}

/* ---- Writing ---- */

static void write_failures(void) {
  mesh m;
  size_t size;
  REQUIRE(mesh_generate("sphere:12", &m, message) == 0);
  CHECK(mesh_file_can_write("a.b/c.obj", message) == 0);
  CHECK(mesh_file_can_write("a.obj/c", message) == 1);
  CHECK(mesh_file_write(in_directory("new.wrl"), &m, message) == 1);
  CHECK_CONTAINS(message, "expected a name that ends in .obj, .ply, .off or .stl");
  CHECK(mesh_file_write(in_directory("none/new.obj"), &m, message) == 1);
  CHECK_CONTAINS(message, "No such file");

  /* A failed write leaves no partial file, and the old file is unchanged. */
  const char *old = file_of("old.obj", "keep", 4);
  const int before = files_there();
  struct rlimit limit, small;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  small = (struct rlimit){100, limit.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  CHECK(mesh_file_write(old, &m, message) == 1);
  CHECK_CONTAINS(message, "File too large");
  CHECK(mesh_file_write(in_directory("new.ply"), &m, message) == 1);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  CHECK_INT(files_there(), before);
  char *bytes = bytes_of(old, &size);
  CHECK(size == 4 && memcmp(bytes, "keep", 4) == 0);
  free(bytes);

  /* A symbolic link stays a link, and its target keeps its permissions. A device is written to, not
   * replaced. */
  struct stat status;
  CHECK(chmod(old, 0640) == 0 && symlink("old.obj", in_directory("link.obj")) == 0);
  CHECK(mesh_file_write(in_directory("link.obj"), &m, message) == 0);
  CHECK(lstat(in_directory("link.obj"), &status) == 0 && S_ISLNK(status.st_mode));
  CHECK(stat(old, &status) == 0 && (status.st_mode & 0777) == 0640 && status.st_size > 100);
  if (access("/dev/full", W_OK) == 0) {
    CHECK(symlink("/dev/full", in_directory("full.off")) == 0);
    CHECK(mesh_file_write(in_directory("full.off"), &m, message) == 1);
    CHECK_CONTAINS(message, "No space left");
  }
  mesh_destroy(&m);
}

/* ---- All cases, without output ---- */

static void run_quietly(void (*run)(void)) {
  fflush(stdout);
  fflush(stderr);
  const int out = dup(1), err = dup(2);
  FILE *said = tmpfile();
  REQUIRE(said && out >= 0 && err >= 0);
  dup2(fileno(said), 1);
  dup2(fileno(said), 2);
  const int failures = test_failures();
  run();
  fflush(stdout);
  fflush(stderr);
  dup2(out, 1);
  dup2(err, 2);
  close(out);
  close(err);
  char line[400];
  rewind(said);
  for (int first = 1; fgets(line, sizeof line, said); first = 0) {
    fputs(line, stderr);
    if (first && test_failures() == failures) test_fail(__FILE__, __LINE__, "something was printed");
  }
  fclose(said);
}

static void silence(void) {
  run_quietly(read_squares);
  run_quietly(read_strips);
  run_quietly(test_wrong);
}

int main(int argc, char **argv) {
  const test_group groups[] = {CASES(round_trip, digits, far, read_squares, read_strips, stl_as_text,
                                     binary_stl, left_out, silence, cut_files, write_failures),
                               {.cases = NULL}};
  if (!mkdtemp(directory)) return 1;
  const int result = test_main(argc, argv, groups, TEST_HOST_ONLY);
  empty_directory();
  rmdir(directory);
  return result;
}
