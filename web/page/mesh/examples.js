// Meshes that the page makes itself.

// A random number of 0 to 1 from a whole number: the same on every visit.
export function noise(k) {
  let x = Math.imul(k + 1, 0x9e3779b1)
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32
}

// Triangles of a grid of columns x rows points; across the ends if it is closed.
function gridTriangles(columns, rows, closedAcross, closedUp) {
  const triangles = [],
    at = (i, j) => (j % rows) * columns + (i % columns)
  for (let j = 0; j < rows - (closedUp ? 0 : 1); j++)
    for (let i = 0; i < columns - (closedAcross ? 0 : 1); i++) {
      const a = at(i, j),
        b = at(i + 1, j),
        c = at(i + 1, j + 1),
        d = at(i, j + 1)
      if ((i + j) % 2) triangles.push(a, b, c, a, c, d)
      else triangles.push(a, b, d, b, c, d)
    }
  return Int32Array.from(triangles)
}

// Moves points along their normals by noise.
function roughen(positions, triangles, amount) {
  const normals = vertexNormals(positions, triangles)
  for (let v = 0; v < positions.length / 3; v++) {
    const by = amount * (noise(v) + noise(v + 7919) - 1)
    for (let k = 0; k < 3; k++) positions[3 * v + k] += by * normals[3 * v + k]
  }
}

// A tube around a trefoil knot, as if scanned: with noise.
export function knot(around = 48, along = 480) {
  const positions = new Float64Array(3 * around * along),
    thick = 0.62
  const curve = (s) => [Math.sin(s) + 2 * Math.sin(2 * s), Math.cos(s) - 2 * Math.cos(2 * s), -1.1 * Math.sin(3 * s)]
  for (let j = 0; j < along; j++) {
    const s = (2 * Math.PI * j) / along,
      p = curve(s),
      q = curve(s + 1e-4)
    const along3 = unit(q.map((x, k) => x - p[k])),
      side = unit(cross(along3, [p[0], p[1], 2])),
      up = cross(side, along3)
    for (let i = 0; i < around; i++) {
      const a = (-2 * Math.PI * i) / around,
        radius = thick * (1 + 0.12 * Math.cos(5 * a + 12 * s))
      for (let k = 0; k < 3; k++)
        positions[3 * (j * around + i) + k] = p[k] + radius * (Math.cos(a) * side[k] + Math.sin(a) * up[k])
    }
  }
  const triangles = gridTriangles(around, along, true, true)
  roughen(positions, triangles, 0.035)
  return { name: 'knot', positions, triangles }
}

// A mask: a smooth face-like relief with holes for eyes and mouth. A disk with holes.
export function mask(size = 180) {
  const points = [],
    number = new Int32Array(size * size).fill(-1)
  const bump = (x, y, cx, cy, rx, ry) => Math.exp(-(((x - cx) / rx) ** 2) - ((y - cy) / ry) ** 2)
  const isIn = (x, y) =>
    (x / 0.78) ** 2 + (y / 1) ** 2 < 1 &&
    [-0.3, 0.3].every((e) => ((x - e) / 0.14) ** 2 + ((y - 0.22) / 0.075) ** 2 > 1) &&
    (x / 0.24) ** 2 + ((y + 0.5 - 0.35 * x * x) / 0.055) ** 2 > 1
  for (let j = 0; j < size; j++)
    for (let i = 0; i < size; i++) {
      const x = (2.1 * i) / (size - 1) - 1.05,
        y = (2.1 * j) / (size - 1) - 1.05
      if (!isIn(x, y)) continue
      const round = Math.sqrt(Math.max(0, 1.25 - 1.05 * x * x - 0.5 * y * y)),
        nose = bump(x, y, 0, -0.08, 0.13, 0.3)
      const z =
        round +
        0.33 * nose * (1 - 0.4 * y) +
        0.09 * (bump(x, y, -0.3, 0.4, 0.24, 0.08) + bump(x, y, 0.3, 0.4, 0.24, 0.08)) +
        0.1 * bump(x, y, 0, -0.5, 0.36, 0.16) +
        0.07 * (bump(x, y, -0.42, -0.2, 0.2, 0.2) + bump(x, y, 0.42, -0.2, 0.2, 0.2)) -
        0.08 * (bump(x, y, -0.3, 0.22, 0.2, 0.12) + bump(x, y, 0.3, 0.22, 0.2, 0.12))
      number[j * size + i] = points.push([x, y, z - 0.8]) - 1
    }
  const triangles = gridTriangles(size, size, false, false).map((v) => number[v])
  const kept = triangles.filter((_, c) => [0, 1, 2].every((k) => triangles[c - (c % 3) + k] >= 0))
  const positions = Float64Array.from(points.flat())
  roughen(positions, kept, 0.007)
  return { name: 'mask', positions, triangles: kept }
}

export const unit = (a) => {
  const length = Math.hypot(...a) || 1
  return a.map((x) => x / length)
}

export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]

// Unit normals of vertices, weighted by area.
export function vertexNormals(positions, triangles) {
  const p = positions,
    n = new Float32Array(p.length)
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t],
      b = 3 * triangles[t + 1],
      c = 3 * triangles[t + 2]
    const ex = p[b] - p[a],
      ey = p[b + 1] - p[a + 1],
      ez = p[b + 2] - p[a + 2]
    const fx = p[c] - p[a],
      fy = p[c + 1] - p[a + 1],
      fz = p[c + 2] - p[a + 2]
    const x = ey * fz - ez * fy,
      y = ez * fx - ex * fz,
      z = ex * fy - ey * fx
    for (const v of [a, b, c]) {
      n[v] += x
      n[v + 1] += y
      n[v + 2] += z
    }
  }
  for (let v = 0; v < n.length; v += 3) {
    const length = Math.hypot(n[v], n[v + 1], n[v + 2]) || 1
    n[v] /= length
    n[v + 1] /= length
    n[v + 2] /= length
  }
  return n
}
