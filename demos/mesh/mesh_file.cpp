#include "mesh_file.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <istream>
#include <new>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <vector>

#include "mesh_ply.hpp"
#include "mesh_source.h"

namespace {

/* The bytes of a source as a stream, without a copy. */
struct memory_buffer : std::streambuf {
  memory_buffer(char *begin, size_t size) { setg(begin, begin, begin + size); }

protected:
  pos_type seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode) override {
    char *const origin = from == std::ios_base::beg ? eback() : from == std::ios_base::cur ? gptr() : egptr();
    if (offset < eback() - origin || offset > egptr() - origin) return pos_type(off_type(-1));
    setg(eback(), origin + offset, egptr());
    return pos_type(gptr() - eback());
  }
  pos_type seekpos(pos_type position, std::ios_base::openmode which) override {
    return seekoff(off_type(position), std::ios_base::beg, which);
  }
};

/* How far a read went when it failed: where it was, and whether there was nothing more. */
std::string where(const mesh_source &source, const mesh_soup &soup, bool ended) {
  const auto place = [&](const char *what, size_t done, int64_t all) {
    return std::string(what) + " " + std::to_string(done + 1) + (all < 0 ? "" : " of " + std::to_string(all));
  };
  const int64_t vertices = source.vertices < 0 ? soup.announced_vertices : source.vertices;
  const int64_t faces = source.faces < 0 ? soup.announced_faces : source.faces;
  const bool in_vertices = vertices < 0 || (int64_t)soup.vertices_read < vertices;
  if (vertices < 0) return ended ? "cut short in its header" : "its header cannot be read";
  if (!in_vertices && faces >= 0 && (int64_t)soup.n_faces() >= faces) return "cut short after its faces";
  const std::string at =
      in_vertices ? place("vertex", soup.vertices_read, vertices) : place("face", soup.n_faces(), faces);
  if (ended) return "cut short at " + at;
  return at + (in_vertices ? ": expected three finite numbers" : ": expected the numbers of its vertices");
}

/* Everything but PLY. */
void read_by_openmesh(mesh_source &source, mesh_soup &soup) {
  memory_buffer buffer(source.bytes, source.size);
  std::istream stream(&buffer);
  stream.imbue(std::locale::classic());
  /* The reader of OFF goes on where a number cannot be read, with what happens to be in its variables; that of
   * OBJ needs a failing stream to see the end, and the text of STL is known to be good. */
  if (source.format == MESH_OFF || source.binary) stream.exceptions(std::ios::failbit | std::ios::badbit);
  OpenMesh::IO::Options options;
  if (source.binary) options += OpenMesh::IO::Options::Binary;
  bool understood = false;
  try {
    quiet_openmesh quiet;
    understood = OpenMesh::IO::IOManager().read(stream, mesh_format_endings[source.format], soup, options);
  } catch (const std::ios_base::failure &) {
    throw std::runtime_error(where(source, soup, stream.eof()));
  }
  if (source.format == MESH_OBJ && (int64_t)soup.n_vertices() < source.vertices)
    throw std::runtime_error(where(source, soup, false));
  if (!understood) throw std::runtime_error(where(source, soup, false));
}

/* Fills the soup, or throws what is wrong. */
void read_soup(mesh_source &source, mesh_soup &soup) {
  if (source.format == MESH_PLY)
    ply_read(source.bytes, source.size, soup);
  else
    read_by_openmesh(source, soup);
  if (soup.n_vertices() == 0) throw std::runtime_error("no vertices");
  if (soup.n_faces() == 0) throw std::runtime_error("no faces");
  if ((int64_t)soup.n_vertices() < soup.announced_vertices || (int64_t)soup.n_faces() < soup.announced_faces)
    throw std::runtime_error(where(source, soup, true));
}

/* The double that the shortest decimal of a float means: 0.1f is 0.1. */
double from_single(float x) {
  char digits[32];
  const auto written = std::to_chars(digits, digits + sizeof digits, x);
  double value = x;
  std::from_chars(digits, written.ptr, value);
  return value;
}

void make_mesh(const mesh_source &source, const mesh_soup &soup, mesh *m, mesh_file_report *report) {
  const size_t vertices = soup.n_vertices(), faces = soup.n_faces();
  int64_t triangles = 0;
  report->faces = (int32_t)std::max((int64_t)faces, source.faces);
  report->left_out = report->faces - (int32_t)faces;
  for (size_t f = 0; f < faces; f++) {
    const size_t corners = soup.face_end[f] - (f ? soup.face_end[f - 1] : 0);
    const std::string face = "face " + std::to_string(f + 1) + " of " + std::to_string(faces);
    if (corners < 3)
      throw std::runtime_error(face + " has " + std::to_string(corners) +
                               (corners == 1 ? " corner" : " corners") + ", expected at least 3");
    triangles += (int64_t)corners - 2;
    report->polygons += corners > 3;
    for (size_t i = soup.face_end[f] - corners; i < soup.face_end[f]; i++)
      if (soup.corners[i] < 0 || (size_t)soup.corners[i] >= vertices)
        throw std::runtime_error(face + " has the vertex " + std::to_string(soup.corners[i]) +
                                 ", expected one of 0 to " + std::to_string(vertices - 1));
  }
  char message[MESH_MESSAGE];
  if (triangles > INT32_MAX || vertices > INT32_MAX)
    throw std::runtime_error("more vertices or triangles than can be counted");
  if (mesh_create((int32_t)vertices, (int32_t)triangles, m, message)) throw std::runtime_error(message);
  for (size_t v = 0; v < vertices; v++)
    for (size_t c = 0; c < 3; c++) {
      if (!std::isfinite(soup.points[v][c]))
        throw std::runtime_error("vertex " + std::to_string(v + 1) + " of " + std::to_string(vertices) +
                                 ": a coordinate is " + (std::isnan(soup.points[v][c]) ? "NaN" : "infinite"));
      m->positions[3 * v + c] = from_single(soup.points[v][c]);
    }
  int32_t *triangle = m->triangles;
  for (size_t f = 0, begin = 0; f < faces; begin = soup.face_end[f++])
    for (size_t i = begin + 2; i < soup.face_end[f]; i++, triangle += 3) {
      triangle[0] = soup.corners[begin];
      triangle[1] = soup.corners[i - 1];
      triangle[2] = soup.corners[i];
    }
}

} // namespace

int mesh_file_read(const char *path, mesh *m, mesh_file_report *report, char message[MESH_MESSAGE]) {
  mesh_file_report unused;
  mesh_source source;
  *m = mesh{};
  report = report ? report : &unused;
  *report = mesh_file_report{};
  if (mesh_source_open(path, &source, message)) return 1;
  int failed = 0;
  try {
    mesh_soup soup(source.size);
    read_soup(source, soup);
    make_mesh(source, soup, m, report);
  } catch (const std::bad_alloc &) {
    failed = mesh_fail(message, "%s: %s", mesh_source_name(path), strerror(ENOMEM));
  } catch (const std::exception &problem) {
    failed = mesh_fail(message, "%s: %s", mesh_source_name(path), problem.what());
  }
  mesh_source_close(&source);
  if (failed) mesh_destroy(m);
  return failed;
}
