// Wavefront OBJ: vertices and polygons. Normals, texture coordinates, materials and groups are skipped.
import { Growing, Scanner, pushPolygon } from './scanner.js'

// One corner of a face, such as 7, 7/2, 7//3, -1: the vertex alone counts.
function corner(scanner, vertices) {
  const text = scanner.word()
  const slash = text.indexOf('/')
  const index = Number(slash < 0 ? text : text.slice(0, slash))
  if (!Number.isInteger(index) || index === 0) scanner.fail(`"${text.slice(0, 40)}" is not a corner of a face`)
  const vertex = index > 0 ? index - 1 : vertices + index
  if (vertex < 0 || vertex >= vertices) scanner.fail(`the face has vertex ${index}, but ${vertices} vertices precede it`)
  return vertex
}

function face(scanner, vertices, triangles, corners) {
  corners.length = 0
  while (scanner.hasWord()) corners.push(corner(scanner, vertices))
  if (corners.length < 3) scanner.fail(`the face has ${corners.length} corners, expected at least 3`)
  pushPolygon(triangles, corners, corners.length)
}

export function parseObj(bytes) {
  const scanner = new Scanner(bytes)
  const positions = new Growing(Float64Array),
    triangles = new Growing(Int32Array),
    corners = []
  while (scanner.nextWordLine()) {
    const keyword = scanner.word()
    if (keyword === 'v') for (const axis of 'xyz') positions.push(scanner.number(axis))
    else if (keyword === 'f') face(scanner, positions.length / 3, triangles, corners)
    scanner.nextLine()
  }
  if (!triangles.length) scanner.fail(`the file ends without a face (${positions.length / 3} vertices)`)
  return { positions: positions.finish(), triangles: triangles.finish() }
}
