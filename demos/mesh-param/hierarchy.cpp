#include "hierarchy.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <vector>

#include <OpenMesh/Core/Mesh/TriMesh_ArrayKernelT.hh>
#include <OpenMesh/Core/System/omstream.hh>

namespace {

/* After a collapse every triangle must have at least this shape, or at least the shape of the worst triangle
 * around the vertex. The shape is twice the area over the sum of the squared edges; an equilateral triangle has
 * 0.29. */
const double good_shape = 0.15;
/* If few vertices can be collapsed under this rule, the next round accepts triangles worse by this factor,
 * repeatedly down to a limit. This makes the triangles of a mesh of long triangles rounder. */
const double less_strict = 0.7, least_strict = 0.1;

struct traits : OpenMesh::DefaultTraits {
  using Point = OpenMesh::Vec3d;
  VertexAttributes(OpenMesh::Attributes::Status);
  EdgeAttributes(OpenMesh::Attributes::Status);
  HalfedgeAttributes(OpenMesh::Attributes::Status);
  FaceAttributes(OpenMesh::Attributes::Status);
};
using surface = OpenMesh::TriMesh_ArrayKernelT<traits>;
using OpenMesh::HalfedgeHandle, OpenMesh::Vec3d, OpenMesh::VertexHandle;

/* Copies the mesh. Returns false if three triangles share an edge of flat vertices, which OpenMesh does not
 * support. */
bool build(const mesh &m, const charts &c, surface &s) {
  const bool errors = omerr().is_enabled();
  for (int32_t v = 0; v < c.vertices; v++) {
    const double *p = m.positions + 3 * (size_t)c.vertex[v];
    s.add_vertex(Vec3d(p[0], p[1], p[2]));
  }
  omerr().disable();
  bool whole = true;
  for (int32_t t = 0; t < m.triangle_count && whole; t++) {
    const int32_t *corner = c.corner + 3 * (size_t)t;
    whole = s.add_face(VertexHandle(corner[0]), VertexHandle(corner[1]), VertexHandle(corner[2])).is_valid();
  }
  if (errors) omerr().enable();
  return whole;
}

/* ---- One collapse ---- */

/* A triangle around the vertex to remove. */
struct corner {
  VertexHandle vertex[3];
  Vec3d p[3], normal;
  double length; /* of the normal */
  int moving;    /* index of that vertex in the triangle */
};

struct ring {
  corner corners[HIERARCHY_RING];
  int count, last; /* last: the corner that rejected the previous edge, and is likely to reject the next */
  double shape;    /* the minimum shape of triangles after the collapse */
};

double squared_edges(const Vec3d p[3]) {
  return (p[1] - p[0]).sqrnorm() + (p[2] - p[1]).sqrnorm() + (p[0] - p[2]).sqrnorm();
}

/* `strictness`: the minimum shape relative to the worst triangle around the vertex. */
void look_around(const surface &s, VertexHandle vertex, double strictness, ring &r) {
  r.count = r.last = 0;
  r.shape = good_shape;
  for (const auto edge : s.voh_range(vertex)) {
    if (s.is_boundary(edge)) continue;
    corner &c = r.corners[r.count++];
    HalfedgeHandle side = s.halfedge_handle(s.face_handle(edge));
    for (int k = 0; k < 3; k++, side = s.next_halfedge_handle(side)) {
      c.vertex[k] = s.to_vertex_handle(side);
      c.p[k] = s.point(c.vertex[k]);
      if (c.vertex[k] == vertex) c.moving = k;
    }
    c.normal = (c.p[1] - c.p[0]) % (c.p[2] - c.p[0]);
    c.length = c.normal.norm();
    if (strictness * c.length < r.shape * squared_edges(c.p))
      r.shape = strictness * c.length / squared_edges(c.p);
  }
}

/* Returns true if a triangle keeps its orientation and the minimum shape when the vertex moves to `to`, or if
 * it disappears. */
bool keeps_side(const corner &c, double shape, VertexHandle to, const Vec3d &there) {
  if (c.vertex[0] == to || c.vertex[1] == to || c.vertex[2] == to) return true;
  Vec3d q[3] = {c.p[0], c.p[1], c.p[2]};
  q[c.moving] = there;
  const Vec3d after = (q[1] - q[0]) % (q[2] - q[0]);
  const double length = after.norm();
  return (c.normal | after) > 0.5 * c.length * length && length > shape * squared_edges(q);
}

bool keeps_sides(ring &r, VertexHandle to, const Vec3d &there) {
  if (r.count && !keeps_side(r.corners[r.last], r.shape, to, there)) return false;
  for (int k = 0; k < r.count; k++) {
    if (keeps_side(r.corners[k], r.shape, to, there)) continue;
    r.last = k;
    return false;
  }
  return true;
}

/* Returns true if the surface remains a manifold when the edge is collapsed. The ends may share only the
 * neighbours in the edge's triangles (the link condition of Dey et al. 1999). No triangle may depend on that
 * edge alone, and the ends must not be on two boundaries. OpenMesh's is_collapse_ok checks the same, but each
 * call looks up a property by name, which took half of the time of all levels. */
bool stays_whole(const surface &s, HalfedgeHandle edge) {
  const HalfedgeHandle back = s.opposite_halfedge_handle(edge);
  const VertexHandle from = s.from_vertex_handle(edge), to = s.to_vertex_handle(edge);
  int triangles = 0, common = 0;
  VertexHandle opposite[2];
  for (const HalfedgeHandle side : {edge, back}) {
    if (s.is_boundary(side)) continue;
    const HalfedgeHandle next = s.next_halfedge_handle(side), last = s.next_halfedge_handle(next);
    if (s.is_boundary(s.opposite_halfedge_handle(next)) && s.is_boundary(s.opposite_halfedge_handle(last)))
      return false;
    opposite[triangles++] = s.to_vertex_handle(next);
  }
  if (triangles == 0 || (triangles == 2 && opposite[0] == opposite[1])) return false;
  if (triangles == 2 && s.is_boundary(from) && s.is_boundary(to)) return false;
  for (const auto a : s.vv_range(from))
    for (const auto b : s.vv_range(to)) common += a == b;
  return common == triangles;
}

/* The shortest edge that the vertex can be collapsed along, or an invalid one. `stays` is set if the answer can
 * change only after a neighbour changes. */
HalfedgeHandle choose_edge(const surface &s, VertexHandle vertex, double strictness, unsigned char &stays) {
  struct candidate {
    double length;
    HalfedgeHandle edge;
  } candidates[HIERARCHY_RING];
  stays = 1;
  if (s.valence(vertex) >= (unsigned)HIERARCHY_RING) return HalfedgeHandle();
  const bool border = s.is_boundary(vertex);
  int count = 0;
  for (const auto edge : s.voh_range(vertex)) {
    if (border && !s.is_boundary(s.edge_handle(edge))) continue;
    const double length = (s.point(s.to_vertex_handle(edge)) - s.point(vertex)).sqrnorm();
    int k = count++; /* sort by length; equal lengths keep their order */
    for (; k > 0 && length < candidates[k - 1].length; k--) candidates[k] = candidates[k - 1];
    candidates[k] = {length, edge};
  }
  ring around;
  look_around(s, vertex, strictness, around);
  for (int k = 0; k < count; k++) { /* the test that rejects most edges is first */
    const VertexHandle to = s.to_vertex_handle(candidates[k].edge);
    if (!keeps_sides(around, to, s.point(to))) continue;
    stays = 0; /* this answer also depends on neighbours of neighbours */
    if (s.valence(to) <= 10 && stays_whole(s, candidates[k].edge)) return candidates[k].edge;
  }
  return HalfedgeHandle();
}

/* Mean value coordinates (Floater 2003) in the interior; interpolation between two neighbours on the
 * boundary. */
hierarchy_vertex place_between(const surface &s, VertexHandle vertex) {
  hierarchy_vertex r{};
  std::vector<VertexHandle> ring;
  const bool border = s.is_boundary(vertex);
  for (const auto edge : s.voh_range(vertex))
    if (!border || s.is_boundary(s.edge_handle(edge))) ring.push_back(s.to_vertex_handle(edge));
  const size_t n = ring.size();
  double weight[HIERARCHY_RING] = {0}, sum = 0;
  const Vec3d p = s.point(vertex);
  for (size_t i = 0; i < n; i++) {
    const Vec3d here = s.point(ring[i]) - p;
    const double length = std::fmax(here.norm(), 1e-300);
    double value = 1;
    if (!border) {
      value = 0;
      for (const size_t k : {(i + 1) % n, (i + n - 1) % n}) {
        const Vec3d next = s.point(ring[k]) - p;
        const double sine = (here % next).norm(), cosine = here | next;
        value += std::fmin(sine / std::fmax(length * next.norm() + cosine, 1e-300), 1e3);
      }
    }
    weight[i] = value / length;
    sum += weight[i];
  }
  r.vertex = vertex.idx();
  r.neighbours = (int32_t)n;
  for (size_t i = 0; i < n; i++) {
    r.neighbour[i] = ring[i].idx();
    r.weight[i] = (float)(sum > 0 ? weight[i] / sum : 1.0 / (double)n);
  }
  return r;
}

/* ---- A level ---- */

/* State between rounds of collapses. */
struct remains {
  std::vector<int32_t> vertices;    /* removable vertices, ascending */
  std::vector<int32_t> locked;      /* for each vertex: the last round in which a neighbour was removed */
  std::vector<unsigned char> stays; /* see choose_edge */
  int32_t round = 0;
  double strictness = 1; /* see look_around */
};

remains begin(const surface &s, const unsigned char *pinned) {
  remains r;
  for (const auto vertex : s.vertices())
    if (!pinned[vertex.idx()]) r.vertices.push_back(vertex.idx());
  r.locked.assign(s.n_vertices(), 0);
  r.stays.assign(s.n_vertices(), 0);
  return r;
}

/* One round: collapses vertices that are not neighbours. Returns their number. */
int32_t thin_out(surface &s, remains &r, std::vector<hierarchy_vertex> &removed) {
  size_t kept = 0;
  r.round++;
  for (const int32_t i : r.vertices) {
    const VertexHandle vertex(i);
    const bool waits = r.locked[(size_t)i] == r.round || r.stays[(size_t)i] || s.is_isolated(vertex);
    const HalfedgeHandle edge =
        waits ? HalfedgeHandle() : choose_edge(s, vertex, r.strictness, r.stays[(size_t)i]);
    if (!edge.is_valid()) {
      r.vertices[kept++] = i;
      continue;
    }
    removed.push_back(place_between(s, vertex));
    for (const auto neighbour : s.vv_range(vertex)) {
      r.locked[(size_t)neighbour.idx()] = r.round;
      r.stays[(size_t)neighbour.idx()] = 0;
    }
    s.collapse(edge);
  }
  const size_t gone = r.vertices.size() - kept;
  r.vertices.resize(kept);
  return (int32_t)gone;
}

/* Relaxes the shape criterion for the next round. Returns false at the limit. */
bool relax(remains &r) {
  r.strictness *= less_strict;
  std::fill(r.stays.begin(), r.stays.end(), (unsigned char)0);
  return r.strictness > least_strict;
}

void keep_level(const surface &s, const std::vector<hierarchy_vertex> &removed, hierarchy &h) {
  hierarchy_level level{};
  std::vector<int32_t> vertices, triangles;
  for (const auto face : s.faces()) /* skips deleted faces */
    for (const auto vertex : s.fv_range(face)) triangles.push_back(vertex.idx());
  for (const auto vertex : s.vertices()) vertices.push_back(vertex.idx());
  level.vertex_count = (int32_t)vertices.size();
  level.triangle_count = (int32_t)(triangles.size() / 3);
  level.removed = (int32_t)removed.size();
  level.vertices = (int32_t *)malloc((vertices.size() + 1) * sizeof(int32_t));
  level.triangles = (int32_t *)malloc((triangles.size() + 1) * sizeof(int32_t));
  h.level[h.count++] = level;
  if (!level.vertices || !level.triangles) throw std::bad_alloc();
  memcpy(level.vertices, vertices.data(), vertices.size() * sizeof(int32_t));
  memcpy(level.triangles, triangles.data(), triangles.size() * sizeof(int32_t));
}

void build_levels(const mesh &m, const charts &c, const unsigned char *pinned, int32_t least, hierarchy &h) {
  surface s;
  std::vector<hierarchy_vertex> removed;
  if (!build(m, c, s)) return;
  remains r = begin(s, pinned);
  int32_t left = c.vertices, level = left;
  while (left > least && h.count < HIERARCHY_LEVELS) {
    const int32_t gone = thin_out(s, r, removed);
    left -= gone;
    const bool few = gone < left / 50, stuck = few && left > least && !relax(r);
    if (!few) r.strictness = 1;
    if (left <= level / 4 || ((stuck || left <= least) && left < level / 2)) {
      keep_level(s, removed, h);
      level = left;
    }
    if (stuck) break;
  }
  h.removed = (hierarchy_vertex *)malloc((removed.size() + 1) * sizeof *h.removed);
  if (!h.removed) throw std::bad_alloc();
  if (!removed.empty()) memcpy(h.removed, removed.data(), removed.size() * sizeof *h.removed);
}

} // namespace

int hierarchy_create(const mesh *m, const charts *c, const unsigned char *pinned, int32_t least, hierarchy *h,
                     char message[MESH_MESSAGE]) {
  *h = hierarchy{};
  try {
    build_levels(*m, *c, pinned, least, *h);
    return 0;
  } catch (const std::exception &) {
    hierarchy_destroy(h);
    return mesh_fail(message, "out of memory for coarser meshes of %d vertices", (int)c->vertices);
  }
}

void hierarchy_destroy(hierarchy *h) {
  for (int k = 0; k < h->count; k++) {
    free(h->level[k].vertices);
    free(h->level[k].triangles);
  }
  free(h->removed);
  *h = hierarchy{};
}
