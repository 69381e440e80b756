/* What the readers of mesh files hand over, and the readers. Internal to mesh_file. */
#ifndef MESH_SOUP_HPP
#define MESH_SOUP_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

using mesh_point_in_file = std::array<double, 3>;

/* How coordinates of a file become those of a mesh: in single precision; but in double precision and from an
 * origin if the mesh is small and far from 0. */
class mesh_frame {
public:
  void add(const mesh_point_in_file &point); /* first all points that faces use */
  void choose_origin();
  mesh_point_in_file place(const mesh_point_in_file &point) const;
  const mesh_point_in_file &origin() const { return origin_; }

private:
  mesh_point_in_file low_{}, high_{}, origin_{};
  bool empty_ = true, far_ = false;
};

/* Vertices and faces as they are in a file. */
struct mesh_soup {
  std::vector<mesh_point_in_file> points;
  mesh_frame frame;       /* of `points`, if ... */
  bool is_placed = false; /* ... the reader has moved them into it */
  std::vector<int32_t> corners;
  std::vector<size_t> face_end; /* in `corners` */
  int64_t announced_vertices = -1;
  int32_t left_out = 0;      /* triangles with a vertex twice, of OBJ and STL files */
  int64_t ignored_bytes = 0; /* behind the last triangle of a binary STL file */

  void add_face(const std::vector<int32_t> &vertices);
  void add_proper_face(const std::vector<int32_t> &vertices); /* unless it is a triangle with a vertex twice */
  /* What a header says. Throws where `bytes` cannot hold so many. */
  void announce(int64_t vertices, int64_t faces, size_t bytes);
};

/* The length of a byte order mark (UTF-8) before the text; 0: there is none. */
inline size_t mesh_mark_size(const char *bytes, size_t size) {
  return size >= 3 && bytes[0] == '\xef' && bytes[1] == '\xbb' && bytes[2] == '\xbf' ? 3 : 0;
}

/* They take `size` bytes, behind which stands a 0, and may change them. They throw std::runtime_error with what
 * is wrong and where. All but stl_read expect them without a byte order mark: a binary STL file may begin with
 * the same bytes. */
void obj_read(char *bytes, size_t size, mesh_soup &soup);
void off_read(char *bytes, size_t size, mesh_soup &soup);
/* The corners of each triangle; those at the same place become one vertex. */
void stl_read(char *bytes, size_t size, mesh_soup &soup);
/* Text and binary of both byte orders, faces as polygons and as triangle strips, as range scans of Stanford's
 * and Cyberware's have them. */
void ply_read(char *bytes, size_t size, mesh_soup &soup);

#endif
