// The arrays that the picture of a mesh is drawn from. They are made in the worker.
import { vertexNormals } from './examples.js'
import { next, oppositesOf } from './topology.js'

/** Points and normals of the drawn vertices. Normals are those of the mesh, so that a seam does not show. */
export function pointsOf(positions, triangles, flat) {
  const normals = vertexNormals(positions, triangles)
  if (!flat) return { points: Float32Array.from(positions), normals }
  const { origin } = flat,
    points = new Float32Array(3 * origin.length),
    moved = new Float32Array(3 * origin.length)
  for (let v = 0; v < origin.length; v++)
    for (let k = 0; k < 3; k++) {
      points[3 * v + k] = positions[3 * origin[v] + k]
      moved[3 * v + k] = normals[3 * origin[v] + k]
    }
  return { points, normals: moved }
}

/** Pairs of drawn vertices: inner edges, and borders, first those of the mesh, then seams. `rims` counts the former. */
function linesOf(drawn, opposite, whole) {
  const edges = [],
    rims = [],
    seams = []
  for (let h = 0; h < drawn.length; h++) {
    const list = opposite[h] >= 0 ? edges : whole[h] < 0 ? rims : seams
    if (opposite[h] < h) list.push(drawn[h], drawn[next(h)])
  }
  return { edges: Uint32Array.from(edges), borders: Uint32Array.from([...rims, ...seams]), rims: rims.length / 2 }
}

/** flat: the map, { triangles, origin, uv }, or null. */
export function drawnOf({ positions, triangles, opposite }, flat) {
  const triangleVertices = Uint32Array.from(flat ? flat.triangles : triangles),
    count = flat ? flat.origin.length : positions.length / 3
  return {
    ...pointsOf(positions, triangles, flat),
    ...linesOf(triangleVertices, flat ? oppositesOf(flat.triangles).opposite : opposite, opposite),
    triangles: triangleVertices,
    uv: flat ? Float32Array.from(flat.uv) : new Float32Array(2 * count),
    angle: new Float32Array(count).fill(1),
    hasMap: !!flat
  }
}

/** The buffers to transfer of an object of typed arrays. */
export const buffersOf = (arrays) =>
  Object.values(arrays)
    .filter(ArrayBuffer.isView)
    .map(({ buffer }) => buffer)
