// Triangle meshes: smoothing by mean-curvature flow, and least-squares conformal maps.
import { TexsolveError, invalid, shown } from './errors.js'
import { constants as c } from './layout.js'
import { checkArray, checkNumber, checkNumbers } from './memory.js'
import { NativeObject } from './runtime.js'
import { describeSolver, resultOf } from './solve.js'
import { texelsOf, textureOf } from './textures.js'

/** Checks positions and triangles, and returns copies. */
function checkMesh({ positions, triangles }) {
  checkNumbers('positions', positions)
  if (positions.length % 3 || positions.length < 9)
    throw invalid(`positions has ${positions.length} elements; expected 3 for each of at least 3 vertices`)
  checkArray('triangles', triangles, [Int32Array, Uint32Array, Uint16Array])
  if (triangles.length % 3 || triangles.length < 3)
    throw invalid(`triangles has ${triangles.length} elements; expected 3 for each of at least 1 triangle`)
  const vertices = positions.length / 3
  for (let k = 0; k < triangles.length; k++) {
    if (triangles[k] < 0 || triangles[k] >= vertices)
      throw invalid(`triangles[${k}] is ${triangles[k]}; there are ${vertices} vertices`)
  }
  return { positions: positions.slice(), triangles: Int32Array.from(triangles), vertices }
}

/** The square of the mean length of an edge. */
function meanSquare(positions, triangles) {
  let sum = 0
  for (let k = 0; k < triangles.length; k++) {
    const a = 3 * triangles[k], b = 3 * triangles[k % 3 === 2 ? k - 2 : k + 1]
    sum += Math.hypot(positions[a] - positions[b], positions[a + 1] - positions[b + 1], positions[a + 2] - positions[b + 2])
  }
  return (sum / triangles.length) ** 2
}

/** A mesh whose vertices flow by the mean curvature. */
export class Mesh extends NativeObject {
  #mesh
  #constrained
  #options
  #x

  constructor(runtime, given = {}) {
    super(runtime, 'ts_mesh_flow_destroy')
    this.attempt(() => {
      runtime.checkIdle('mesh')
      const { positions, triangles, constrained, boundary = 'fixed', speed, ...solver } = given
      this.#mesh = checkMesh({ positions, triangles })
      if (boundary !== 'fixed' && boundary !== 'flow') throw invalid(`boundary is ${shown(boundary)}; it must be "fixed" or "flow"`)
      if (constrained) this.#constrained = checkArray('constrained', constrained, [Uint8Array], this.#mesh.vertices).slice()
      this.#options = { boundary, speed, solver }
      this.vertices = this.#mesh.vertices
      this.triangles = this.#mesh.triangles.length / 3
      this.build()
    })
  }

  build() {
    const { runtime } = this
    const { positions, triangles, vertices } = this.#mesh
    const { boundary, speed, solver } = this.#options
    this.pointer = runtime.scope(arena => {
      const desc = { vertices, triangles: triangles.length / 3, triangle_vertices: arena.copy(triangles),
        boundary: boundary === 'flow' ? c.TS_MESH_BOUNDARY_FLOW : c.TS_MESH_BOUNDARY_FIXED,
        solver: { ...describeSolver(runtime, arena, solver, vertices), progress: runtime.module._tsw_get_progress() } }
      if (desc.solver.fixed_iterations) delete desc.solver.progress
      if (speed !== undefined) desc.speed = checkNumber('speed', speed)
      if (this.#constrained) desc.constrained = arena.copy(this.#constrained)
      return runtime.create('ts_mesh_flow_create', runtime.context, arena.struct('ts_mesh_flow_desc', desc))
    })
    this.#x = new NativeObject(runtime, 'ts_vector_destroy')
    this.#x.build = () => {} // made again with the mesh
    this.#x.pointer = runtime.scope(arena => runtime.create('ts_vector_create', this.#space(), arena.struct('ts_vector_desc', { components: 3 })))
    this.#write(positions)
  }

  #space() {
    return this.runtime.module._ts_mesh_flow_get_space(this.pointer)
  }

  #write(positions) {
    const { runtime } = this
    runtime.scope(arena => runtime.call('ts_vector_write', this.#x.pointer, arena.array(arena.input(positions))))
  }

  #read() {
    const { runtime } = this
    const { constructor: Type, length } = this.#mesh.positions
    return runtime.scope(arena => {
      const output = arena.output(Type, length)
      runtime.call('ts_vector_read', this.#x.pointer, arena.array(output))
      return arena.result(Type, output)
    })
  }

  /** The positions on the host: waits for the device. */
  get positions() {
    void this.pointer
    this.runtime.checkIdle('positions')
    return this.#read()
  }

  set positions(positions) {
    void this.pointer
    this.runtime.checkIdle('positions')
    checkNumbers('positions', positions, 3 * this.vertices)
    this.#write(positions)
    this.#mesh.positions = this.#mesh.positions.constructor.from(positions)
  }

  /** The square of the mean length of an edge: a moderate time step. */
  get defaultTimeStep() {
    return meanSquare(this.#mesh.positions, this.#mesh.triangles)
  }

  #checkStep(timeStep) {
    checkNumber('timeStep', timeStep)
    if (!(timeStep > 0 && timeStep < Infinity)) throw invalid(`timeStep is ${timeStep}; it must be positive`)
    return timeStep
  }

  /** Moves the vertices and returns their positions. */
  async smooth({ timeStep = this.defaultTimeStep, steps = 1, signal, onProgress } = {}) {
    const { runtime } = this
    this.#checkStep(timeStep)
    checkNumber('steps', steps, { integer: true, least: 1 })
    void this.pointer
    return runtime.enqueue(async arena => {
      const result = arena.struct('ts_mesh_flow_result')
      for (let step = 0; step < steps; step++) {
        const status = await runtime.callPausing('ts_mesh_flow_step', this.pointer, this.#x.pointer, timeStep, result)
        if (status) throw new TexsolveError('not-converged', `step ${step}: ${runtime.memory.readStruct('ts_mesh_flow_result', result).message}`)
      }
      const found = this.#read()
      this.#mesh.positions = found
      return found.slice()
    }, { signal, onProgress })
  }

  /** One step inside a frame, without reading positions back. Returns what it took. */
  step(timeStep = this.defaultTimeStep) {
    const { runtime, pointer } = this
    runtime.checkIdle('step')
    this.#checkStep(timeStep)
    return runtime.scope(arena => {
      const result = arena.struct('ts_mesh_flow_result')
      const status = runtime.call('ts_mesh_flow_step', pointer, this.#x.pointer, timeStep, result)
      const found = runtime.memory.readStruct('ts_mesh_flow_result', result)
      return { converged: status === 0, iterations: found.iterations, substeps: found.substeps, message: found.message,
               residual: found.surface.relative_residual }
    })
  }

  /** The texture of the positions: x, y, z in the texel of each vertex. */
  get region() {
    void this.pointer
    return textureOf(this.runtime, this.#x.pointer)
  }

  get texture() {
    return this.region.texture
  }

  /** The texel of each vertex, relative to the region: x and y in turn. */
  get texels() {
    return texelsOf(this.runtime, this.#space(), this.vertices)
  }

  get info() {
    const { runtime, pointer } = this
    return runtime.scope(arena => {
      const address = arena.struct('ts_mesh_flow_info')
      runtime.call('ts_mesh_flow_get_info', pointer, address)
      const info = runtime.memory.readStruct('ts_mesh_flow_info', address)
      return { vertices: info.vertices, triangles: info.triangles, boundaryVertices: info.boundary_vertices,
               constrainedVertices: info.constrained_vertices, bytes: info.bytes_device }
    })
  }

  dispose() {
    this.#x?.dispose()
    super.dispose()
  }
}

/** The part of the mesh that each vertex belongs to, and the vertices on the boundary. */
function survey({ triangles, vertices }) {
  const parent = Int32Array.from({ length: vertices }, (_, v) => v)
  const find = v => {
    while (parent[v] !== v) v = parent[v] = parent[parent[v]]
    return v
  }
  const edges = new Map() // directed edges without their opposite
  for (let k = 0; k < triangles.length; k++) {
    const a = triangles[k], b = triangles[k % 3 === 2 ? k - 2 : k + 1]
    parent[find(a)] = find(b)
    if (!edges.delete(b * vertices + a)) edges.set(a * vertices + b, a)
  }
  const rim = new Uint8Array(vertices)
  for (const [key, a] of edges) rim[a] = rim[key - a * vertices] = 1
  const used = new Uint8Array(vertices)
  for (const v of triangles) used[v] = 1
  return { part: Int32Array.from({ length: vertices }, (_, v) => used[v] ? find(v) : -1), rim }
}

/** Two vertices of each part that are far apart, on its boundary if it has one. */
function choosePins(mesh) {
  const { positions, vertices } = mesh
  const { part, rim } = survey(mesh)
  const parts = new Map()
  for (let v = 0; v < vertices; v++) {
    if (part[v] < 0) continue
    if (!parts.has(part[v])) parts.set(part[v], { all: [], rim: [] })
    const found = parts.get(part[v])
    found.all.push(v)
    if (rim[v]) found.rim.push(v)
  }
  const pins = new Map()
  let along = 0, closed = 0
  for (const { all, rim: border } of parts.values()) {
    const candidates = border.length >= 2 ? border : all
    if (border.length < 2) closed++
    const distance = (v, x, y, z) => Math.hypot(positions[3 * v] - x, positions[3 * v + 1] - y, positions[3 * v + 2] - z)
    const farthest = (x, y, z) => candidates.reduce((best, v) => distance(v, x, y, z) > distance(best, x, y, z) ? v : best)
    const mean = [0, 1, 2].map(k => candidates.reduce((sum, v) => sum + positions[3 * v + k], 0) / candidates.length)
    const one = farthest(...mean)
    const two = farthest(positions[3 * one], positions[3 * one + 1], positions[3 * one + 2])
    const length = distance(two, positions[3 * one], positions[3 * one + 1], positions[3 * one + 2])
    pins.set(one, [along, 0]).set(two, [along + length, 0])
    along += 1.5 * length
  }
  return { pins, parts: parts.size, closed }
}

function checkPins(pins, vertices) {
  const found = pins instanceof Map ? pins : new Map(Object.entries(pins ?? {}).map(([vertex, uv]) => [Number(vertex), uv]))
  if (found.size < 2) throw invalid(`pins has ${found.size} vertices; expected at least 2`)
  for (const [vertex, uv] of found) {
    if (!Number.isInteger(vertex) || vertex < 0 || vertex >= vertices)
      throw invalid(`pins has vertex ${vertex}; there are ${vertices} vertices`)
    if (!uv || uv.length !== 2 || !Number.isFinite(uv[0]) || !Number.isFinite(uv[1]))
      throw invalid(`pins[${vertex}] is ${shown(uv)}; it must be two finite numbers`)
  }
  return found
}

/** Texture coordinates that preserve angles as well as possible (Levy, Petitjean, Ray and Maillot 2002). */
export async function lscm(runtime, given = {}) {
  const { positions, triangles, pins: wanted, signal, onProgress, rtol = 1e-8, ...rest } = given
  const mesh = checkMesh({ positions, triangles })
  const { pins, parts, closed } = wanted === undefined ? choosePins(mesh) : { pins: checkPins(wanted, mesh.vertices) }
  return runtime.enqueue(async (arena, current) => {
    const fields = { ...describeSolver(runtime, arena, { rtol, ...rest }, 2 * mesh.vertices), progress: runtime.module._tsw_get_progress() }
    const uv = arena.output(Float64Array, 2 * mesh.vertices)
    const result = arena.struct('ts_result')
    const begin = performance.now()
    const status = await runtime.callPausing('tsw_lscm', runtime.context, arena.copy(Float64Array.from(mesh.positions)), mesh.vertices,
      arena.copy(mesh.triangles), mesh.triangles.length / 3, arena.copy(Int32Array.from(pins.keys())), pins.size,
      arena.copy(Float64Array.from([...pins.values()].flatMap(([u, v]) => [u, v]))), arena.struct('ts_solver_desc', fields), uv.data, result)
    const secondsSolve = (performance.now() - begin) / 1000
    const found = resultOf(runtime, status, runtime.memory.readStruct('ts_result', result), current)
    return { uv: positions.constructor.from(arena.result(Float64Array, uv)), ...found, secondsSolve, pins, parts, closed }
  }, { signal, onProgress })
}
