#include "mesh_soup.hpp"

#include <stdexcept>

#include <OpenMesh/Core/System/omstream.hh>

using OpenMesh::FaceHandle, OpenMesh::Vec3d, OpenMesh::Vec3f, OpenMesh::VertexHandle;

quiet_openmesh::quiet_openmesh() : errors_(omerr().is_enabled()), log_(omlog().is_enabled()) {
  omerr().disable();
  omlog().disable();
}

quiet_openmesh::~quiet_openmesh() {
  if (errors_) omerr().enable();
  if (log_) omlog().enable();
}

/* ---- What a reader hands over ---- */

VertexHandle mesh_soup::add_vertex() {
  points.emplace_back(0.0f, 0.0f, 0.0f);
  return VertexHandle((int)points.size() - 1);
}

VertexHandle mesh_soup::add_vertex(const Vec3f &point) {
  points.push_back(point);
  vertices_read++;
  return VertexHandle((int)points.size() - 1);
}

void mesh_soup::set_point(VertexHandle vertex, const Vec3f &point) {
  points.at((size_t)vertex.idx()) = point;
  vertices_read++;
}

FaceHandle mesh_soup::add_face(const VHandles &vertices) {
  for (const VertexHandle vertex : vertices) corners.push_back(vertex.idx());
  face_end.push_back(corners.size());
  return FaceHandle((int)face_end.size() - 1);
}

void mesh_soup::announce(int64_t vertices, int64_t faces) {
  announced_vertices = vertices;
  announced_faces = faces;
  if (vertices > (int64_t)bytes_ || faces > (int64_t)bytes_)
    throw std::runtime_error("announces " + std::to_string(vertices) + " vertices and " +
                             std::to_string(faces) + " faces, more than its " + std::to_string(bytes_) +
                             " bytes can hold");
  points.reserve((size_t)vertices);
  corners.reserve(3 * (size_t)faces);
  face_end.reserve((size_t)faces);
}

/* ---- What a writer asks for ---- */

Vec3d mesh_exporter::pointd(VertexHandle vertex) const {
  const double *p = m_.positions + 3 * (size_t)vertex.idx();
  return Vec3d(p[0], p[1], p[2]);
}

Vec3f mesh_exporter::point(VertexHandle vertex) const {
  return Vec3f(pointd(vertex));
}

OpenMesh::Vec2f textured_exporter::place(int32_t number) const {
  return OpenMesh::Vec2f((float)uv_[2 * (size_t)number], (float)uv_[2 * (size_t)number + 1]);
}

OpenMesh::HalfedgeHandle textured_exporter::getHeh(FaceHandle face, VertexHandle vertex) const {
  int k = 0;
  while (k < 2 && triangles_[3 * (size_t)face.idx() + (size_t)k] != vertex.idx()) k++;
  return OpenMesh::HalfedgeHandle(3 * face.idx() + k);
}

unsigned textured_exporter::get_face_texcoords(std::vector<OpenMesh::Vec2f> &places) const {
  places.clear();
  for (size_t h = 0; h < 3 * (size_t)count_; h++) places.push_back(place(corner_[h]));
  return (unsigned)places.size();
}

unsigned mesh_exporter::get_vhandles(FaceHandle face, std::vector<VertexHandle> &vertices) const {
  vertices.clear();
  for (size_t k = 0; k < 3; k++) vertices.emplace_back(m_.triangles[3 * (size_t)face.idx() + k]);
  return 3;
}
