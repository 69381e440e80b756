/* The readers of mesh files, and their result. Internal to mesh_file. */
#ifndef MESH_SOUP_HPP
#define MESH_SOUP_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

using mesh_point_in_file = std::array<double, 3>;

/* Converts coordinates of a file to those of a mesh. The mesh has single precision, or, if it is small and far
 * from 0, double precision relative to an origin. */
class mesh_frame {
public:
  void add(const mesh_point_in_file &point); /* first add all points that faces use */
  void choose_origin();
  mesh_point_in_file place(const mesh_point_in_file &point) const;
  const mesh_point_in_file &origin() const { return origin_; }

private:
  mesh_point_in_file low_{}, high_{}, origin_{};
  bool empty_ = true, far_ = false;
};

/* Vertices and faces as in the file. */
struct mesh_soup {
  std::vector<mesh_point_in_file> points;
  mesh_frame frame;       /* frame of `points` */
  bool is_placed = false; /* 1 if the reader has already converted `points` to the frame */
  std::vector<int32_t> corners;
  std::vector<size_t> face_end; /* index into `corners` */
  int64_t announced_vertices = -1;
  int32_t left_out = 0;      /* triangles with a repeated vertex, in OBJ and STL files */
  int64_t ignored_bytes = 0; /* after the last triangle of a binary STL file */

  void add_face(const std::vector<int32_t> &vertices);
  void add_proper_face(const std::vector<int32_t> &vertices); /* skips triangles with a repeated vertex */
  /* Takes the numbers of a header. Throws if `bytes` cannot hold that many elements. */
  void announce(int64_t vertices, int64_t faces, size_t bytes);
};

/* Length of a byte order mark (UTF-8) before the text; 0: none. */
inline size_t mesh_mark_size(const char *bytes, size_t size) {
  return size >= 3 && bytes[0] == '\xef' && bytes[1] == '\xbb' && bytes[2] == '\xbf' ? 3 : 0;
}

/* The readers take `size` bytes followed by a 0, and may change them. They throw std::runtime_error with the
 * error and its position. All but stl_read expect the bytes without a byte order mark. A binary STL file may
 * begin with the same bytes, so stl_read checks for the mark itself. */
void obj_read(char *bytes, size_t size, mesh_soup &soup);
void off_read(char *bytes, size_t size, mesh_soup &soup);
/* Joins triangle corners at the same position to one vertex. */
void stl_read(char *bytes, size_t size, mesh_soup &soup);
/* Reads text and binary in both byte orders. Faces may be polygons, or triangle strips as in range scans from
 * Stanford and Cyberware. */
void ply_read(char *bytes, size_t size, mesh_soup &soup);

#endif
