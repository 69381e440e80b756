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

#include "compressed.h"
#include "mesh_polygon.hpp"
#include "mesh_soup.hpp"
#include "platform.h"

namespace {

using std::string, std::to_string;

/* Reads the whole file. The size is not queried, because a pipe has none. */
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
  if (const char *program = compressed_by(bytes.data(), bytes.size()))
    throw std::runtime_error("compressed by " + string(program) + " (hint: `" + program +
                             " -d' uncompresses it)");
  return bytes;
}

/* The double nearest to the shortest decimal of a float: 0.1 for 0.1f. */
double from_single(float x) {
  char digits[32];
  const auto written = std::to_chars(digits, digits + sizeof digits, x);
  double value = x;
  std::from_chars(digits, written.ptr, value);
  return value;
}

/* In units of the mesh's diagonal. Beyond this distance adjacent floats differ by 4e-6 of the diagonal or
 * more. */
const double far_from_zero = 64;

} // namespace

void mesh_frame::add(const mesh_point_in_file &point) {
  for (size_t c = 0; c < 3; c++) {
    low_[c] = empty_ ? point[c] : std::min(low_[c], point[c]);
    high_[c] = empty_ ? point[c] : std::max(high_[c], point[c]);
  }
  empty_ = false;
}

/* The origin is a multiple of a power of two that is at least the diagonal. Then no digit of a coordinate is
 * lost when the origin is subtracted and added again. */
void mesh_frame::choose_origin() {
  const double diagonal = std::hypot(high_[0] - low_[0], high_[1] - low_[1], high_[2] - low_[2]);
  if (!(diagonal > 0) || !std::isfinite(diagonal)) return;
  int exponent;
  std::frexp(diagonal, &exponent);
  for (size_t c = 0; c < 3; c++) {
    if (!(std::max(-low_[c], high_[c]) > far_from_zero * diagonal)) continue;
    const double unit = std::ldexp(1, exponent);
    origin_[c] = unit * std::nearbyint((low_[c] / 2 + high_[c] / 2) / unit);
    far_ = true;
  }
}

mesh_point_in_file mesh_frame::place(const mesh_point_in_file &point) const {
  mesh_point_in_file placed;
  for (size_t c = 0; c < 3; c++) placed[c] = far_ ? point[c] - origin_[c] : from_single((float)point[c]);
  return placed;
}

namespace {

/* Refuses coordinates outside the range of floats, because devices compute with floats. */
void place_points(mesh_soup &soup, mesh *m) {
  const size_t vertices = soup.points.size();
  for (size_t v = 0; v < vertices; v++)
    for (const double coordinate : soup.points[v])
      if (!std::isfinite((float)coordinate))
        throw std::runtime_error("vertex " + to_string(v + 1) + " of " + to_string(vertices) +
                                 ": a coordinate is " + (std::isnan(coordinate) ? "NaN" : "infinite"));
  if (!soup.is_placed) {
    for (const int32_t v : soup.corners) soup.frame.add(soup.points[(size_t)v]);
    soup.frame.choose_origin();
  }
  for (size_t v = 0; v < vertices; v++) {
    const mesh_point_in_file point = soup.is_placed ? soup.points[v] : soup.frame.place(soup.points[v]);
    std::copy(point.begin(), point.end(), m->positions + 3 * v);
  }
  std::copy(soup.frame.origin().begin(), soup.frame.origin().end(), m->origin);
}

/* Cuts the faces into triangles. The mesh has room for them. */
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

void make_mesh(mesh_soup &soup, mesh *m, mesh_file_report *report) {
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
  if (triangles > INT32_MAX || vertices > INT32_MAX) throw std::runtime_error("too many vertices or triangles");
  if (mesh_create((int32_t)vertices, (int32_t)triangles, m, message)) throw std::runtime_error(message);
  place_points(soup, m);
  cut_faces(soup, m, report);
}

} // namespace

/* Same result as printf and strtod, several times faster. */
double mesh_file_single(double number) {
  char digits[32];
  double value = number;
  const auto written =
      std::to_chars(digits, digits + sizeof digits, (double)(float)number, std::chars_format::general, 9);
  std::from_chars(digits, written.ptr, value);
  return value;
}

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
