#include "mesh_file.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include "mesh_soup.hpp"
#include "mesh_source.h"

namespace {

/* A file that takes its name when it is complete. */
class new_file {
public:
  /* Returns 0 or an errno. */
  int open(const char *path) {
    struct stat old;
    const bool exists = stat(path, &old) == 0;
    if (exists && S_ISDIR(old.st_mode)) return EISDIR;
    if (exists && !S_ISREG(old.st_mode)) { /* a pipe or a device stays what it is */
      stream.open(path, std::ios::binary);
      return stream ? 0 : errno;
    }
    /* Renaming would replace a file that the user may not write, and a link instead of what it points to. */
    if (exists && access(path, W_OK) != 0) return errno;
    char real[PATH_MAX];
    if (exists && !realpath(path, real)) return errno;
    target_ = exists ? real : path;
    temporary_ = target_ + ".XXXXXX";
    const int descriptor = mkstemp(&temporary_[0]);
    if (descriptor < 0) {
      temporary_.clear();
      return errno;
    }
    /* As if it had been made by open(): permissions of the file that it replaces, or what the umask leaves. A
     * file system without permissions refuses this, and the file is still good. */
    const mode_t mask = umask(0);
    umask(mask);
    if (fchmod(descriptor, exists ? old.st_mode & 0777 : 0666 & ~mask) != 0) errno = 0;
    close(descriptor);
    stream.open(temporary_, std::ios::binary);
    return stream ? 0 : errno;
  }

  int commit() {
    errno = 0;
    stream.close();
    if (stream.fail()) return errno ? errno : EIO;
    if (!temporary_.empty() && rename(temporary_.c_str(), target_.c_str()) != 0) return errno;
    temporary_.clear();
    return 0;
  }

  ~new_file() {
    stream.close();
    if (!temporary_.empty()) unlink(temporary_.c_str());
  }

  std::ofstream stream;

private:
  std::string target_, temporary_;
};

/* What every format has in common. */
int write_file(const char *path, mesh_format format, OpenMesh::IO::BaseExporter &exporter,
               OpenMesh::IO::Options options, char message[MESH_MESSAGE]) {
  const char *const name = mesh_source_name(path);
  new_file file;
  if (const int error = file.open(path)) return mesh_fail(message, "%s: %s", name, strerror(error));
  file.stream.imbue(std::locale::classic());
  if (format == MESH_PLY || format == MESH_STL) options += OpenMesh::IO::Options::Binary;
  bool written = false;
  errno = 0;
  {
    quiet_openmesh quiet;
    /* Nine digits are enough for every number of single precision. */
    written = OpenMesh::IO::IOManager().write(file.stream, mesh_format_endings[format], exporter, options, 9);
  }
  if (!written || !file.stream) return mesh_fail(message, "%s: %s", name, strerror(errno ? errno : EIO));
  if (const int error = file.commit()) return mesh_fail(message, "%s: %s", name, strerror(error));
  return 0;
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
