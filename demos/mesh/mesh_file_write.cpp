#include "mesh_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ostream>
#include <streambuf>

#include "mesh_soup.hpp"
#include "mesh_source.h"
#include "output_file.h"

namespace {

/* A stream of C++ over one of C. */
class file_buffer : public std::streambuf {
public:
  explicit file_buffer(FILE *file) : file_(file) {}

protected:
  int_type overflow(int_type c) override { return c == traits_type::eof() ? 0 : fputc(c, file_); }
  std::streamsize xsputn(const char *bytes, std::streamsize count) override {
    return (std::streamsize)fwrite(bytes, 1, (size_t)count, file_);
  }

private:
  FILE *file_;
};

/* What every format has in common. */
int write_file(const char *path, mesh_format format, OpenMesh::IO::BaseExporter &exporter,
               OpenMesh::IO::Options options, char message[MESH_MESSAGE]) {
  const char *const name = mesh_source_name(path);
  output_file file;
  if (const int error = output_create(&file, path)) return mesh_fail(message, "%s: %s", name, strerror(error));
  if (format == MESH_PLY || format == MESH_STL) options += OpenMesh::IO::Options::Binary;
  bool written = false;
  int error = 0;
  try {
    file_buffer buffer(file.stream);
    std::ostream stream(&buffer);
    stream.imbue(std::locale::classic());
    quiet_openmesh quiet;
    errno = 0;
    /* Nine digits are enough for every number of single precision. */
    written =
        OpenMesh::IO::IOManager().write(stream, mesh_format_endings[format], exporter, options, 9) && stream;
    error = errno ? errno : EIO;
  } catch (...) {
    output_discard(&file);
    throw;
  }
  if (written)
    error = output_finish(&file);
  else
    output_discard(&file);
  return error ? mesh_fail(message, "%s: %s", name, strerror(error)) : 0;
}

} // namespace

int mesh_file_can_write(const char *path, char message[MESH_MESSAGE]) {
  if (mesh_format_of(path) != MESH_FORMATS) return 0;
  return mesh_fail(message, "%s: expected a name that ends in .obj, .ply, .off or .stl",
                   mesh_source_name(path));
}

int mesh_file_write(const char *path, const mesh *m, char message[MESH_MESSAGE]) {
  if (mesh_file_can_write(path, message)) return 1;
  try {
    mesh_exporter exporter(*m);
    return write_file(path, mesh_format_of(path), exporter, OpenMesh::IO::Options(), message);
  } catch (const std::exception &problem) {
    return mesh_fail(message, "%s: %s", mesh_source_name(path), problem.what());
  }
}

int mesh_file_can_write_textured(const char *path, char message[MESH_MESSAGE]) {
  const mesh_format format = mesh_format_of(path);
  if (format == MESH_OBJ || format == MESH_PLY) return 0;
  return mesh_fail(message, "%s: expected a name that ends in .obj or .ply", mesh_source_name(path));
}

int mesh_file_write_textured(const char *path, const mesh *m, const int32_t *corner, const double *uv,
                             char message[MESH_MESSAGE]) {
  if (mesh_file_can_write_textured(path, message)) return 1;
  const mesh_format format = mesh_format_of(path);
  OpenMesh::IO::Options options;
  options += format == MESH_OBJ ? OpenMesh::IO::Options::FaceTexCoord : OpenMesh::IO::Options::VertexTexCoord;
  try {
    textured_exporter exporter(*m, corner, uv);
    return write_file(path, format, exporter, options, message);
  } catch (const std::exception &problem) {
    return mesh_fail(message, "%s: %s", mesh_source_name(path), problem.what());
  }
}
