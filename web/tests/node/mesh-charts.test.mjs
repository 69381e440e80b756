// Repair, seams and charts of meshes: what stands between a file and the conformal map.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { knot, mask } from '../../page/mesh/examples.js'
import { areasOf, chartsOf, cutCharts, distortionOf, packCharts } from '../../page/mesh/flatten.js'
import { next, oppositesOf, repair } from '../../page/mesh/topology.js'

/* Euler characteristic and number of boundary loops of triangles that are one part. */
function topology({ triangles }) {
  const { opposite } = oppositesOf(triangles),
    vertices = new Set(triangles),
    leaving = new Map()
  let edges = 0
  for (let h = 0; h < triangles.length; h++) {
    edges += opposite[h] < h
    if (opposite[h] < 0) leaving.set(triangles[h], triangles[next(h)])
  }
  let loops = 0
  while (leaving.size) {
    loops++
    for (let v = leaving.keys().next().value, to; leaving.has(v); v = to) {
      to = leaving.get(v)
      leaving.delete(v)
    }
  }
  return { euler: vertices.size - edges + triangles.length / 3, loops }
}

function sphere(rings = 12, around = 20) {
  const positions = [0, 0, 1],
    triangles = [],
    at = (r, k) => 1 + r * around + (k % around)
  for (let r = 0; r < rings; r++)
    for (let k = 0; k < around; k++) {
      const a = (Math.PI * (r + 1)) / (rings + 1),
        b = (2 * Math.PI * k) / around
      positions.push(Math.sin(a) * Math.cos(b), Math.sin(a) * Math.sin(b), Math.cos(a))
    }
  positions.push(0, 0, -1)
  for (let k = 0; k < around; k++) {
    triangles.push(0, at(0, k), at(0, k + 1), rings * around + 1, at(rings - 1, k + 1), at(rings - 1, k))
    for (let r = 0; r + 1 < rings; r++)
      triangles.push(at(r, k), at(r + 1, k), at(r + 1, k + 1), at(r, k), at(r + 1, k + 1), at(r, k + 1))
  }
  return { positions: Float64Array.from(positions), triangles: Int32Array.from(triangles) }
}

function grid(columns, rows, place, isRing) {
  const positions = [],
    triangles = [],
    wrap = (i) => (isRing ? i % columns : i)
  for (let j = 0; j < rows; j++) for (let i = 0; i < columns; i++) positions.push(...place(i / columns, j / (rows - 1)))
  for (let j = 0; j + 1 < rows; j++)
    for (let i = 0; i < columns - (isRing ? 0 : 1); i++) {
      const a = j * columns + i,
        b = j * columns + wrap(i + 1),
        c = b + columns,
        d = a + columns
      triangles.push(a, b, c, a, c, d)
    }
  return { positions: Float64Array.from(positions), triangles: Int32Array.from(triangles) }
}

const cylinder = grid(24, 10, (s, t) => [Math.cos(2 * Math.PI * s), Math.sin(2 * Math.PI * s), 2 * t], true)

function joined(...meshes) {
  const positions = [],
    triangles = []
  for (const m of meshes) {
    triangles.push(...m.triangles.map((v) => v + positions.length / 3))
    positions.push(...m.positions)
  }
  return { positions: Float64Array.from(positions), triangles: Int32Array.from(triangles) }
}

test('a sphere, a cylinder and a knot become disks', () => {
  for (const given of [sphere(), cylinder, knot(12, 90)]) {
    const mesh = repair(given),
      flat = cutCharts(mesh)
    assert.deepEqual(mesh.notes, [])
    assert.equal(flat.parts, 1)
    assert.deepEqual(topology(flat), { euler: 1, loops: 1 })
    assert.deepEqual(flat.origin.length > mesh.positions.length / 3, true)
    flat.triangles.forEach((v, c) => assert.equal(flat.origin[v], mesh.triangles[c]))
  }
})

test('a disk, and small holes, stay as they are', () => {
  const flat = cutCharts(repair(mask(60)))
  assert.equal(flat.seamEdges, 0)
  assert.equal(topology(flat).loops, 4)
})

test('parts become charts', () => {
  const mesh = repair(joined(sphere(), cylinder, knot(12, 60))),
    flat = cutCharts(mesh)
  const charts = chartsOf(flat, mesh.positions)
  assert.equal(charts.length, 3)
  for (const chart of charts) assert.deepEqual(topology(chart), { euler: 1, loops: 1 })
})

test('repair turns triangles, separates crowded edges and one-sided surfaces', () => {
  const turned = sphere()
  for (const t of [3, 30, 31])
    [turned.triangles[3 * t], turned.triangles[3 * t + 1]] = [turned.triangles[3 * t + 1], turned.triangles[3 * t]]
  const again = repair(turned)
  assert.match(again.notes.join(), /3 triangles turned/)
  assert.deepEqual(topology(again), { euler: 2, loops: 0 })

  const positions = Float64Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 9, 9, 9)
  const fan = repair({ positions, triangles: Int32Array.of(0, 1, 2, 1, 0, 3, 0, 1, 4, 2, 2, 3) })
  assert.match(fan.notes.join(), /1 triangles without area.*3 sides of edges.*1 unused/)
  assert.ok(oppositesOf(fan.triangles).opposite.every((h) => h === -1))

  const strip = grid(
    30,
    4,
    (s, t) => {
      const a = 2 * Math.PI * s,
        w = (t - 0.5) * 0.6
      return [(1 + w * Math.cos(a / 2)) * Math.cos(a), (1 + w * Math.cos(a / 2)) * Math.sin(a), w * Math.sin(a / 2)]
    },
    false
  )
  const open = strip.triangles.length,
    last = []
  for (let j = 0; j < 3; j++) {
    const a = j * 30 + 29,
      d = a + 30,
      b = (3 - j) * 30,
      c = b - 30
    last.push(a, b, c, a, c, d)
  }
  const moebius = repair({ positions: strip.positions, triangles: Int32Array.from([...strip.triangles, ...last]) })
  assert.equal(moebius.triangles.length, open + 18)
  assert.match(moebius.notes.join(), /edges opened, the surface has one side/)
  assert.deepEqual(topology(cutCharts(moebius)), { euler: 1, loops: 1 })
})

test('distortion: 1 for a similarity, 2 for a stretch, and packing scales charts to their areas', () => {
  const mesh = repair(grid(8, 8, (s, t) => [s * 8, t * 7, 0], false)),
    flat = cutCharts(mesh),
    n = flat.origin.length
  const at = (v, k) => mesh.positions[3 * flat.origin[v] + k]
  flat.uv = Float64Array.from({ length: 2 * n }, (_, i) => (i % 2 ? 3 * at(i >> 1, 0) : -3 * at(i >> 1, 1)))
  const same = distortionOf(mesh.positions, mesh.triangles, flat)
  assert.ok(Math.abs(same.mean - 1) < 1e-6 && same.flipped === 0)
  packCharts(flat.uv, chartsOf(flat, mesh.positions), flat, same, areasOf(mesh.positions, mesh.triangles))
  assert.ok(flat.uv.every((x) => x >= -1e-9 && x <= 1 + 1e-9))
  assert.ok(Math.abs(distortionOf(mesh.positions, mesh.triangles, flat).mean - 1) < 1e-6)
  flat.uv = flat.uv.map((x, i) => (i % 2 ? x : -2 * x))
  const stretched = distortionOf(mesh.positions, mesh.triangles, flat)
  assert.ok(Math.abs(stretched.mean - 2) < 1e-6)
  assert.equal(stretched.flipped, mesh.triangles.length / 3)
})
