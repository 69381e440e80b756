#include "mesh_file.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include "mesh_polygon.hpp"
#include "mesh_soup.hpp"
#include "platform.h"

namespace {

using std::string, std::to_string;

/* The whole file; a pipe has no size to ask for. */
string read_bytes(const char *path) {
  string bytes;
  std::FILE *file = std::fopen(path, "rb");
  if (!file) throw std::runtime_error(strerror(errno));
  int error = platform_kind_of_stream(file, nullptr) == PLATFORM_DIRECTORY ? EISDIR : 0;
  try {
    for (size_t got = 1; got && !error;) {
      const size_t size = bytes.size();
      bytes.resize(size < (1 << 16) ? 1 << 16 : 2 * size);
      got = std::fread(&bytes[size], 1, bytes.size() - size, file);
      bytes.resize(size + got);
      if (std::ferror(file)) error = errno ? errno : EIO;
    }
  } catch (...) {
    std::fclose(file);
    throw;
  }
  std::fclose(file);
  if (error) throw std::runtime_error(strerror(error));
  if (bytes.empty()) throw std::runtime_error("the file is empty");
  return bytes;
}

/* The double that the shortest decimal of a float means: 0.1f is 0.1. */
double from_single(float x) {
  char digits[32];
  const auto written = std::to_chars(digits, digits + sizeof digits, x);
  double value = x;
  std::from_chars(digits, written.ptr, value);
  return value;
}

/* Fills the triangles, for which there is room. */
void cut_faces(const mesh_soup &soup, mesh *m, mesh_file_report *report) {
  mesh_polygon_cutter cutter;
  std::vector<int32_t> face, triangles;
  int32_t *next = m->triangles;
  for (size_t f = 0, begin = 0; f < soup.face_end.size(); begin = soup.face_end[f++]) {
    const auto corner = soup.corners.begin();
    face.assign(corner + (std::ptrdiff_t)begin, corner + (std::ptrdiff_t)soup.face_end[f]);
    if (face.size() > 3) {
      const bool reduced = mesh_polygon_reduce(face);
      if (face.size() < 3) {
        report->left_out++;
        continue;
      }
      report->reduced += reduced;
      report->polygons += face.size() > 3;
    }
    triangles.clear();
    if (!cutter.cut(m->positions, face, triangles) && report->crossing++ == 0)
      report->first_crossing = (int32_t)f;
    next = std::copy(triangles.begin(), triangles.end(), next);
  }
  m->triangle_count = (int32_t)((next - m->triangles) / 3);
  if (m->triangle_count == 0) throw std::runtime_error("no face has three vertices");
}

void make_mesh(const mesh_soup &soup, mesh *m, mesh_file_report *report) {
  const size_t vertices = soup.points.size(), faces = soup.face_end.size();
  int64_t triangles = 0;
  if (vertices == 0) throw std::runtime_error("no vertices");
  if (faces == 0) throw std::runtime_error("no faces");
  report->faces = (int32_t)faces + soup.left_out;
  report->left_out = soup.left_out;
  report->ignored_bytes = soup.ignored_bytes;
  for (size_t f = 0; f < faces; f++) {
    const size_t corners = soup.face_end[f] - (f ? soup.face_end[f - 1] : 0);
    const string face = "face " + to_string(f + 1) + " of " + to_string(faces);
    if (corners < 3)
      throw std::runtime_error(face + " has " + to_string(corners) + (corners == 1 ? " corner" : " corners") +
                               ", expected at least 3");
    triangles += (int64_t)corners - 2;
    for (size_t i = soup.face_end[f] - corners; i < soup.face_end[f]; i++)
      if (soup.corners[i] < 0 || (size_t)soup.corners[i] >= vertices)
        throw std::runtime_error(face + " has the vertex " + to_string(soup.corners[i]) +
                                 ", expected one of 0 to " + to_string(vertices - 1));
  }
  char message[MESH_MESSAGE];
  if (triangles > INT32_MAX || vertices > INT32_MAX)
    throw std::runtime_error("more vertices or triangles than can be counted");
  if (mesh_create((int32_t)vertices, (int32_t)triangles, m, message)) throw std::runtime_error(message);
  for (size_t v = 0; v < vertices; v++)
    for (size_t c = 0; c < 3; c++) {
      if (!std::isfinite(soup.points[v][c]))
        throw std::runtime_error("vertex " + to_string(v + 1) + " of " + to_string(vertices) +
                                 ": a coordinate is " + (std::isnan(soup.points[v][c]) ? "NaN" : "infinite"));
      m->positions[3 * v + c] = from_single(soup.points[v][c]);
    }
  cut_faces(soup, m, report);
}

} // namespace

int mesh_file_read(const char *path, mesh *m, mesh_file_report *report, char message[MESH_MESSAGE]) {
  static void (*const read[MESH_FORMATS])(char *, size_t, mesh_soup &) = {obj_read, ply_read, off_read,
                                                                          stl_read};
  mesh_file_report unused;
  const mesh_format format = mesh_format_of(path);
  *m = mesh{};
  report = report ? report : &unused;
  *report = mesh_file_report{};
  if (mesh_file_can_write(path, message)) return 1;
  try {
    string bytes = read_bytes(path);
    mesh_soup soup;
    const size_t mark = format == MESH_STL ? 0 : mesh_mark_size(bytes.data(), bytes.size());
    read[format](bytes.data() + mark, bytes.size() - mark, soup);
    make_mesh(soup, m, report);
    return 0;
  } catch (const std::bad_alloc &) {
    mesh_fail(message, "%s: %s", mesh_file_name(path), strerror(ENOMEM));
  } catch (const std::exception &problem) {
    mesh_fail(message, "%s: %s", mesh_file_name(path), problem.what());
  }
  mesh_destroy(m);
  return 1;
}
