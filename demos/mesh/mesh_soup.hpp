/* The two sides of OpenMesh's readers and writers, without its half-edge mesh, which would refuse or double
 * what is not manifold. Internal to mesh_file. */
#ifndef MESH_SOUP_HPP
#define MESH_SOUP_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <OpenMesh/Core/IO/IOManager.hh>

#include "mesh.h"

/* While this exists, OpenMesh prints nothing. */
class quiet_openmesh {
public:
  quiet_openmesh();
  ~quiet_openmesh();
  quiet_openmesh(const quiet_openmesh &) = delete;
  quiet_openmesh &operator=(const quiet_openmesh &) = delete;

private:
  bool errors_, log_;
};

namespace soup_types {
using OpenMesh::EdgeHandle, OpenMesh::FaceHandle, OpenMesh::HalfedgeHandle, OpenMesh::VertexHandle;
using OpenMesh::Vec2f, OpenMesh::Vec3d, OpenMesh::Vec3f, OpenMesh::Vec3uc, OpenMesh::Vec3ui, OpenMesh::Vec4f,
    OpenMesh::Vec4uc, OpenMesh::Vec4ui;
using OpenMesh::Attributes::StatusInfo;

/* What a reader tells of besides vertices and faces is passed over. */
class quiet_importer : public OpenMesh::IO::BaseImporter {
public:
  HalfedgeHandle add_edge(VertexHandle, VertexHandle) override { return HalfedgeHandle(); }
  FaceHandle add_face(HalfedgeHandle) override { return FaceHandle(); }
  void set_halfedge(VertexHandle, HalfedgeHandle) override {}
  void set_normal(VertexHandle, const Vec3f &) override {}
  void set_normal(VertexHandle, const Vec3d &) override {}
  void set_color(VertexHandle, const Vec3uc &) override {}
  void set_color(VertexHandle, const Vec4uc &) override {}
  void set_color(VertexHandle, const Vec3f &) override {}
  void set_color(VertexHandle, const Vec4f &) override {}
  void set_texcoord(VertexHandle, const Vec2f &) override {}
  void set_texcoord(VertexHandle, const Vec3f &) override {}
  void set_texcoord(HalfedgeHandle, const Vec2f &) override {}
  void set_texcoord(HalfedgeHandle, const Vec3f &) override {}
  void set_status(VertexHandle, const StatusInfo &) override {}
  void set_status(HalfedgeHandle, const StatusInfo &) override {}
  void set_status(EdgeHandle, const StatusInfo &) override {}
  void set_status(FaceHandle, const StatusInfo &) override {}
  void set_next(HalfedgeHandle, HalfedgeHandle) override {}
  void set_face(HalfedgeHandle, FaceHandle) override {}
  void set_color(EdgeHandle, const Vec3uc &) override {}
  void set_color(EdgeHandle, const Vec4uc &) override {}
  void set_color(EdgeHandle, const Vec3f &) override {}
  void set_color(EdgeHandle, const Vec4f &) override {}
  void set_normal(FaceHandle, const Vec3f &) override {}
  void set_normal(FaceHandle, const Vec3d &) override {}
  void set_color(FaceHandle, const Vec3uc &) override {}
  void set_color(FaceHandle, const Vec4uc &) override {}
  void set_color(FaceHandle, const Vec3f &) override {}
  void set_color(FaceHandle, const Vec4f &) override {}
  void add_face_texcoords(FaceHandle, VertexHandle, const std::vector<Vec2f> &) override {}
  void add_face_texcoords(FaceHandle, VertexHandle, const std::vector<Vec3f> &) override {}
  void set_face_texindex(FaceHandle, int) override {}
  void request_face_texcoords2D() override {}
  void add_texture_information(int, std::string) override {}
};

/* A mesh of vertices and faces has nothing else to write. */
class plain_exporter : public OpenMesh::IO::BaseExporter {
public:
  Vec3uc color(VertexHandle) const override { return Vec3uc(0); }
  Vec4uc colorA(VertexHandle) const override { return Vec4uc(0); }
  Vec3ui colori(VertexHandle) const override { return Vec3ui(0); }
  Vec4ui colorAi(VertexHandle) const override { return Vec4ui(0); }
  Vec3f colorf(VertexHandle) const override { return Vec3f(0); }
  Vec4f colorAf(VertexHandle) const override { return Vec4f(0); }
  Vec3uc color(FaceHandle) const override { return Vec3uc(0); }
  Vec4uc colorA(FaceHandle) const override { return Vec4uc(0); }
  Vec3ui colori(FaceHandle) const override { return Vec3ui(0); }
  Vec4ui colorAi(FaceHandle) const override { return Vec4ui(0); }
  Vec3f colorf(FaceHandle) const override { return Vec3f(0); }
  Vec4f colorAf(FaceHandle) const override { return Vec4f(0); }
  Vec3uc color(EdgeHandle) const override { return Vec3uc(0); }
  Vec4uc colorA(EdgeHandle) const override { return Vec4uc(0); }
  Vec3ui colori(EdgeHandle) const override { return Vec3ui(0); }
  Vec4ui colorAi(EdgeHandle) const override { return Vec4ui(0); }
  Vec3f colorf(EdgeHandle) const override { return Vec3f(0); }
  Vec4f colorAf(EdgeHandle) const override { return Vec4f(0); }
  StatusInfo status(VertexHandle) const override { return StatusInfo(); }
  StatusInfo status(FaceHandle) const override { return StatusInfo(); }
  StatusInfo status(EdgeHandle) const override { return StatusInfo(); }
  StatusInfo status(HalfedgeHandle) const override { return StatusInfo(); }
  Vec3f normal(VertexHandle) const override { return Vec3f(0); }
  Vec3d normald(VertexHandle) const override { return Vec3d(0); }
  Vec3f normal(FaceHandle) const override { return Vec3f(0); }
  Vec3d normald(FaceHandle) const override { return Vec3d(0); }
  Vec2f texcoord(VertexHandle) const override { return Vec2f(0); }
  Vec2f texcoord(HalfedgeHandle) const override { return Vec2f(0); }
  HalfedgeHandle getHeh(FaceHandle, VertexHandle) const override { return HalfedgeHandle(); }
  unsigned get_face_texcoords(std::vector<Vec2f> &) const override { return 0; }
  int get_halfedge_id(VertexHandle) override { return -1; }
  int get_halfedge_id(FaceHandle) override { return -1; }
  int get_next_halfedge_id(HalfedgeHandle) override { return -1; }
  int get_to_vertex_id(HalfedgeHandle) override { return -1; }
  int get_face_id(HalfedgeHandle) override { return -1; }
};
} // namespace soup_types

/* Collects vertices and faces as a reader finds them. */
class mesh_soup : public soup_types::quiet_importer {
public:
  /* `bytes`: of the file; it cannot hold more vertices or faces than that. */
  explicit mesh_soup(size_t bytes) : bytes_(bytes) {}

  std::vector<OpenMesh::Vec3f> points;
  std::vector<int32_t> corners;
  std::vector<size_t> face_end; /* in `corners` */
  size_t vertices_read = 0;     /* with their coordinates */
  int64_t announced_vertices = -1, announced_faces = -1;

  using BaseImporter::add_face;
  using BaseImporter::add_vertex;
  OpenMesh::VertexHandle add_vertex(const OpenMesh::Vec3f &point) override;
  OpenMesh::VertexHandle add_vertex() override;
  void set_point(OpenMesh::VertexHandle vertex, const OpenMesh::Vec3f &point) override;
  OpenMesh::FaceHandle add_face(const VHandles &vertices) override;
  void reserve(unsigned vertices, unsigned, unsigned faces) override { announce(vertices, faces); }
  void announce(int64_t vertices, int64_t faces);
  size_t n_vertices() const override { return points.size(); }
  size_t n_faces() const override { return face_end.size(); }
  size_t n_edges() const override { return 0; }

private:
  size_t bytes_;
};

/* Hands the vertices and triangles of a mesh to a writer. */
class mesh_exporter : public soup_types::plain_exporter {
public:
  explicit mesh_exporter(const mesh &m) : m_(m) {}

  OpenMesh::Vec3f point(OpenMesh::VertexHandle vertex) const override;
  OpenMesh::Vec3d pointd(OpenMesh::VertexHandle vertex) const override;
  bool is_point_double() const override { return false; } /* writers use single precision anyway */
  bool is_normal_double() const override { return false; }
  unsigned get_vhandles(OpenMesh::FaceHandle face,
                        std::vector<OpenMesh::VertexHandle> &vertices) const override;
  size_t n_vertices() const override { return (size_t)m_.vertex_count; }
  size_t n_faces() const override { return (size_t)m_.triangle_count; }
  size_t n_edges() const override { return 0; }
  bool is_triangle_mesh() const override { return true; }
  const OpenMesh::BaseKernel *kernel() override { return &kernel_; }

private:
  const mesh &m_;
  OpenMesh::BaseKernel kernel_; /* the writer of PLY asks it for further properties */
};

/* The same with a place in a texture for every corner: `uv` of the number that the corner has. */
class textured_exporter : public mesh_exporter {
public:
  textured_exporter(const mesh &m, const int32_t *corner, const double *uv)
      : mesh_exporter(m), triangles_(m.triangles), count_(m.triangle_count), corner_(corner), uv_(uv) {}

  /* Where every vertex has one place: corners are numbered as the vertices are. */
  OpenMesh::Vec2f texcoord(OpenMesh::VertexHandle vertex) const override { return place(vertex.idx()); }
  OpenMesh::Vec2f texcoord(OpenMesh::HalfedgeHandle corner) const override {
    return place(corner_[corner.idx()]);
  }
  OpenMesh::HalfedgeHandle getHeh(OpenMesh::FaceHandle face, OpenMesh::VertexHandle vertex) const override;
  unsigned get_face_texcoords(std::vector<OpenMesh::Vec2f> &places) const override;
  bool has_vertex_texcoords() const override { return true; }

private:
  OpenMesh::Vec2f place(int32_t number) const;

  const int32_t *triangles_;
  int32_t count_;
  const int32_t *corner_;
  const double *uv_;
};

#endif
