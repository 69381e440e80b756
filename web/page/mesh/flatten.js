// What surrounds a conformal map: the parts of a mesh as charts, their distortion, and their places in one square.
import { findSeams } from './seams.js'
import { partsOf, splitVertices } from './topology.js'

// Cuts a mesh and splits it into charts. Returns the flat mesh: `triangles` of vertices of its own, `origin` with the
// vertex of the mesh for each, `part` of each triangle.
export function cutCharts(mesh) {
  const seams = findSeams(mesh, partsOf(mesh.opposite))
  const split = splitVertices(mesh.triangles, mesh.opposite, (h) => seams[h] === 1)
  const { part, parts } = partsOf(mesh.opposite, (h) => seams[h] === 1)
  let seamEdges = 0
  seams.forEach((isOpen, h) => (seamEdges += isOpen && mesh.opposite[h] < h ? 1 : 0))
  return { ...split, part, parts, seamEdges }
}

// One chart as a mesh: positions, triangles, and the flat vertices that they are.
export function chartsOf(flat, positions) {
  const lists = Array.from({ length: flat.parts }, () => [])
  flat.part.forEach((k, t) => lists[k].push(t))
  const number = new Int32Array(flat.origin.length).fill(-1)
  return lists.map((list) => {
    const vertices = [],
      triangles = new Int32Array(3 * list.length)
    list.forEach((t, i) => {
      for (let c = 0; c < 3; c++) {
        const v = flat.triangles[3 * t + c]
        if (number[v] < 0) number[v] = vertices.push(v) - 1
        triangles[3 * i + c] = number[v]
      }
    })
    const points = new Float64Array(3 * vertices.length)
    vertices.forEach((v, k) => points.set(positions.subarray(3 * flat.origin[v], 3 * flat.origin[v] + 3), 3 * k))
    return { positions: points, triangles, vertices }
  })
}

// ---- Distortion ----

// A triangle's corners in its plane: (0, 0), (x1, 0), (x2, y2).
function flatTriangle(p, a, b, c) {
  const e = [0, 1, 2].map((k) => p[3 * b + k] - p[3 * a + k]),
    f = [0, 1, 2].map((k) => p[3 * c + k] - p[3 * a + k])
  const cross = [e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]]
  const x1 = Math.hypot(...e),
    doubleArea = Math.hypot(...cross)
  return { x1, x2: (e[0] * f[0] + e[1] * f[1] + e[2] * f[2]) / x1, y2: doubleArea / x1, doubleArea }
}

// For each triangle the ratio of the singular values of its map, 1 where angles are preserved, and the area in the
// plane relative to that on the mesh. Returns both with their means, weighted by area, and counts.
export function distortionOf(positions, triangles, flat) {
  const count = triangles.length / 3,
    { uv } = flat,
    angle = new Float32Array(count),
    area = new Float32Array(count)
  let weight = 0,
    sum = 0,
    flipped = 0,
    collapsed = 0,
    most = 1
  for (let t = 0; t < count; t++) {
    const f = flatTriangle(positions, triangles[3 * t], triangles[3 * t + 1], triangles[3 * t + 2])
    const [p, q, r] = [0, 1, 2].map((c) => 2 * flat.triangles[3 * t + c])
    const ux = (uv[q] - uv[p]) / f.x1,
      vx = (uv[q + 1] - uv[p + 1]) / f.x1
    const uy = (uv[r] - uv[p] - ux * f.x2) / f.y2,
      vy = (uv[r + 1] - uv[p + 1] - vx * f.x2) / f.y2
    const same = Math.hypot(ux + vy, vx - uy),
      other = Math.hypot(ux - vy, vx + uy)
    const ratio = (same + other) / Math.abs(same - other)
    area[t] = ux * vy - uy * vx
    angle[t] = ratio
    if (!Number.isFinite(ratio) || ratio > 1e6) {
      collapsed++
      angle[t] = 1e6
      continue
    }
    flipped += area[t] < 0 ? 1 : 0
    weight += f.doubleArea
    sum += f.doubleArea * ratio
    most = Math.max(most, ratio)
  }
  return { angle, area, mean: weight ? sum / weight : NaN, most, flipped, collapsed }
}

// ---- Places in a square ----

function boundsOf(uv, vertices, turn) {
  const c = Math.cos(turn),
    s = Math.sin(turn)
  let left = Infinity,
    right = -Infinity,
    low = Infinity,
    high = -Infinity
  for (const v of vertices) {
    const x = c * uv[2 * v] - s * uv[2 * v + 1],
      y = s * uv[2 * v] + c * uv[2 * v + 1]
    left = Math.min(left, x)
    right = Math.max(right, x)
    low = Math.min(low, y)
    high = Math.max(high, y)
  }
  return { left, low, width: right - left, height: high - low, turn }
}

// The turn with the smallest box, wider than high.
function smallestBox(uv, vertices) {
  const step = Math.max(1, Math.floor(vertices.length / 20000)),
    some = vertices.filter((_, k) => k % step === 0)
  let best = null
  for (let k = 0; k < 24; k++) {
    const box = boundsOf(uv, some, (k * Math.PI) / 48)
    if (!best || box.width * box.height < best.width * best.height) best = box
  }
  return boundsOf(uv, vertices, best.height > best.width ? best.turn + Math.PI / 2 : best.turn)
}

// Scales each chart to its area on the mesh, and places all in rows of the square 0..1, in `uv`.
export function packCharts(uv, charts, flat, distortion, meshArea) {
  const boxes = charts.map(({ vertices }, k) => ({ vertices, k }))
  const image = new Float64Array(charts.length),
    area = new Float64Array(charts.length)
  flat.part.forEach((k, t) => {
    area[k] += meshArea[t]
    image[k] += Math.abs(distortion.area[t]) * meshArea[t]
  })
  for (const box of boxes) {
    const scale = image[box.k] > 0 ? Math.sqrt(area[box.k] / image[box.k]) : 1
    for (const v of box.vertices) {
      uv[2 * v] *= scale
      uv[2 * v + 1] *= scale
    }
    Object.assign(box, smallestBox(uv, box.vertices))
  }
  boxes.sort((a, b) => b.height - a.height)
  const total = boxes.reduce((sum, { width, height }) => sum + width * height, 0),
    gap = 0.01 * Math.sqrt(total)
  const across = Math.max(1.1 * Math.sqrt(total), ...boxes.map(({ width }) => width)) + gap
  let x = 0,
    y = 0,
    row = 0
  for (const box of boxes) {
    if (x > 0 && x + box.width > across) {
      y += row + gap
      x = row = 0
    }
    row = Math.max(row, box.height)
    place(uv, box, x, y)
    x += box.width + gap
  }
  const size = Math.max(across - gap, y + row),
    left = 0.5 * (1 - (across - gap) / size),
    low = 0.5 * (1 - (y + row) / size)
  for (let v = 0; v < uv.length; v += 2) {
    uv[v] = left + uv[v] / size
    uv[v + 1] = low + uv[v + 1] / size
  }
}

function place(uv, { vertices, turn, left, low }, x, y) {
  const c = Math.cos(turn),
    s = Math.sin(turn)
  for (const v of vertices) {
    const a = uv[2 * v],
      b = uv[2 * v + 1]
    uv[2 * v] = c * a - s * b - left + x
    uv[2 * v + 1] = s * a + c * b - low + y
  }
}

export function areasOf(positions, triangles) {
  return Float64Array.from(
    { length: triangles.length / 3 },
    (_, t) => flatTriangle(positions, triangles[3 * t], triangles[3 * t + 1], triangles[3 * t + 2]).doubleArea / 2
  )
}
