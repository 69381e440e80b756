// Reads, smooths and unwraps a mesh, apart from the page. It keeps the mesh and the flow of the library.
import { open } from '../texsolve/texsolve.js'
import { serve } from '../remote.js'
import { buffersOf, drawnOf, pointsOf } from './drawn.js'
import { knot, mask } from './examples.js'
import { areasOf, chartsOf, cutCharts, distortionOf, packCharts } from './flatten.js'
import { readMesh } from './formats/read.js'
import { findPins } from './seams.js'
import { meanEdge, repair } from './topology.js'

const EXAMPLES = { knot, mask }

let opening = null
let mesh = null
let flows = new Map() // boundary: the library's mesh
let flat = null

const library = () => (opening ??= open({ backend: 'cpu' }))

function drop() {
  for (const flow of flows.values()) flow.dispose()
  flows = new Map()
  mesh = flat = null
}

function extentOf(positions) {
  const low = [Infinity, Infinity, Infinity],
    high = [-Infinity, -Infinity, -Infinity]
  for (let i = 0; i < positions.length; i++) {
    low[i % 3] = Math.min(low[i % 3], positions[i])
    high[i % 3] = Math.max(high[i % 3], positions[i])
  }
  return { centre: low.map((x, k) => (x + high[k]) / 2), radius: Math.hypot(...low.map((x, k) => high[k] - x)) / 2 }
}

// Moves the mesh to the origin and scales it to radius 1: positions of a map, such as 4e5 metres east, would otherwise
// be beyond the precision of the picture.
function normalise(given) {
  const { centre, radius } = extentOf(given.positions)
  if (!(radius > 0 && Number.isFinite(radius))) throw new Error('the mesh is a single point')
  const scale = 1 / radius
  given.positions.forEach((x, i) => (given.positions[i] = (x - centre[i % 3]) * scale))
  return { centre, radius }
}

function take(given, name, seconds) {
  const next = repair(given)
  const place = normalise(next)
  drop()
  mesh = { ...next, name, edge: meanEdge(next) }
  const drawn = drawnOf(mesh, null)
  return {
    result: {
      name,
      ...place,
      positions: mesh.positions,
      triangles: mesh.triangles,
      notes: next.notes,
      edge: mesh.edge,
      drawn,
      isClosed: !mesh.opposite.includes(-1),
      format: given.format,
      seconds: (performance.now() - seconds) / 1000
    },
    transfer: buffersOf(drawn)
  }
}

async function load({ file }) {
  const begin = performance.now()
  let bytes
  try {
    bytes = new Uint8Array(await file.arrayBuffer())
  } catch (error) {
    throw new Error(`"${file.name}" cannot be read: ${error.message}`)
  }
  return take(readMesh(bytes, file.name), file.name.replace(/\.[^.]*$/, ''), begin)
}

const example = ({ name }) => {
  const begin = performance.now()
  return take(EXAMPLES[name](), name, begin)
}

function flowOf(ts, boundary) {
  if (!flows.has(boundary)) flows.set(boundary, ts.mesh({ positions: mesh.positions, triangles: mesh.triangles, boundary }))
  return flows.get(boundary)
}

async function smooth({ positions, timeStep, steps, boundary }, { signal }) {
  const ts = await library(),
    begin = performance.now(),
    flow = flowOf(ts, boundary)
  flow.positions = positions
  const found = await flow.smooth({ timeStep, steps, signal })
  const moved = pointsOf(found, mesh.triangles, flat)
  return {
    result: { positions: found, moved, seconds: (performance.now() - begin) / 1000 },
    transfer: [found.buffer, ...buffersOf(moved)]
  }
}

// Distortion of the current map for these positions.
function measure({ positions }) {
  const found = distortionOf(positions, mesh.triangles, flat),
    count = flat.origin.length
  const sum = new Float32Array(count),
    weight = new Float32Array(count)
  flat.triangles.forEach((v, c) => {
    sum[v] += Math.min(found.angle[(c / 3) | 0], 100)
    weight[v]++
  })
  return {
    angle: sum.map((x, v) => x / weight[v]),
    mean: found.mean,
    most: found.most,
    flipped: found.flipped,
    collapsed: found.collapsed
  }
}

async function unwrap({ positions }, { signal, progress }) {
  const ts = await library(),
    begin = performance.now()
  mesh.charts ??= cutCharts(mesh) // the cut is that of the mesh as it was read, so that it stays the same
  flat = { ...mesh.charts }
  const charts = chartsOf(flat, positions),
    uv = new Float64Array(2 * flat.origin.length)
  const cut = performance.now()
  let iterations = 0,
    solve = 0
  for (const [k, chart] of charts.entries()) {
    const onProgress = (now) => progress({ chart: k + 1, charts: charts.length, residual: now.residual })
    const pins = findPins(chart),
      asked = performance.now()
    const found = await ts.lscm({
      positions: chart.positions,
      triangles: chart.triangles,
      pins,
      rtol: 1e-5,
      signal,
      onProgress
    })
    if (!found.converged && !(found.residual < 1e-4))
      throw new Error(`the map of chart ${k + 1} did not converge: ${found.message || found.reason}`)
    solve += performance.now() - asked
    iterations += found.iterations
    chart.vertices.forEach((v, i) => uv.set(found.uv.subarray(2 * i, 2 * i + 2), 2 * v))
  }
  flat.uv = uv
  packCharts(uv, charts, flat, distortionOf(positions, mesh.triangles, flat), areasOf(positions, mesh.triangles))
  const drawn = drawnOf({ ...mesh, positions }, flat),
    { triangles, origin, seamEdges } = flat
  return {
    result: {
      flat: { triangles, origin, uv, parts: charts.length, seamEdges },
      distortion: measure({ positions }),
      drawn,
      iterations,
      seconds: { cut: (cut - begin) / 1000, solve: solve / 1000, all: (performance.now() - begin) / 1000 }
    },
    transfer: buffersOf(drawn)
  }
}

// Takes back a state: its positions and its map, or null.
function restore(state) {
  flat = state.flat
  const drawn = drawnOf({ ...mesh, positions: state.positions }, flat)
  return { result: { drawn }, transfer: buffersOf(drawn) }
}

serve({ load, example, smooth, unwrap, measure, restore })
