// Incompressible flow in two dimensions.
import { invalid, shown } from './errors.js'
import { constants as c } from './layout.js'
import { checkArray, checkNumber, checkNumbers, sizeOf } from './memory.js'
import { NativeObject } from './runtime.js'
import { describeSolver } from './solve.js'
import { textureOf } from './textures.js'

const numbers = { timeStep: 'time_step', viscosity: 'viscosity', buoyancy: 'buoyancy', smokeWeight: 'smoke_weight',
  vorticity: 'vorticity_confinement', dyeDecay: 'dye_decay', temperatureDecay: 'temperature_decay' }
const cycles = { smoother: 'smoother', cycle: 'cycle' }
const cycleNumbers = { pre: 'pre', post: 'post', maxLevels: 'max_levels' }
const parameterNames = [...Object.keys(numbers), 'gravity', 'advection', 'pressure', 'multigrid']
const sides = ['left', 'right', 'bottom', 'top']
const fields = { velocity: 'ts_fluid_get_velocity', pressure: 'ts_fluid_get_pressure', divergence: 'ts_fluid_get_divergence',
  dye: 'ts_fluid_get_dye', walls: 'ts_fluid_get_walls', particles: 'ts_fluid_get_particles' }

function checkFloats(name, values, count) {
  if (!values || values.length !== count || !Array.from(values).every(Number.isFinite))
    throw invalid(`${name} is ${shown(values)}; it must have ${count} finite numbers`)
  return values
}

function checkFinite(name, value) {
  checkNumber(name, value)
  if (!Number.isFinite(value)) throw invalid(`${name} is ${value}; it must be finite`)
  return value
}

/** The fields of a boundary: a kind, or { kind, velocity }. */
function describeBoundary(runtime, name, given) {
  const { kind, velocity = [0, 0] } = typeof given === 'string' ? { kind: given } : given ?? {}
  return { kind: runtime.enumOf('boundary', kind, name), velocity: checkFloats(`${name}.velocity`, velocity, 2) }
}

function describeSource(source, at) {
  const { x, y, halfWidth, halfHeight = 0, dye, temperature, velocity } = source ?? {}
  const found = { x: checkFinite(`sources[${at}].x`, x), y: checkFinite(`sources[${at}].y`, y),
    half_width: checkFinite(`sources[${at}].halfWidth`, halfWidth), half_height: checkFinite(`sources[${at}].halfHeight`, halfHeight) }
  if (dye) Object.assign(found, { dye: checkFloats(`sources[${at}].dye`, dye, 3), sets_dye: 1 })
  if (velocity) Object.assign(found, { velocity: checkFloats(`sources[${at}].velocity`, velocity, 2), sets_velocity: 1 })
  if (temperature !== undefined) Object.assign(found, { temperature: checkFinite(`sources[${at}].temperature`, temperature), sets_temperature: 1 })
  return found
}

export class Fluid extends NativeObject {
  #given
  #parameters = {}
  #sources = []
  #walls

  constructor(runtime, given = {}) {
    super(runtime, 'ts_fluid_destroy')
    this.attempt(() => {
      runtime.checkIdle('fluid')
      const { width, height, cellSize, layout = 'staggered', solid, solidVelocity, left, right, bottom, top, sources, ...parameters } = given
      this.width = checkNumber('width', width, { integer: true, least: 4, most: 32768 })
      this.height = checkNumber('height', height, { integer: true, least: 4, most: 32768 })
      if (!['staggered', 'collocated'].includes(layout))
        throw invalid(`layout is ${shown(layout)}; it must be "staggered" or "collocated"`)
      this.#given = { cellSize, layout, sides: { left, right, bottom, top } }
      this.#checkNames(parameters)
      this.#parameters = parameters
      this.#walls = this.#checkWalls(solid, solidVelocity)
      if (sources) this.#sources = sources
      this.build()
    })
  }

  #checkNames(parameters) {
    for (const name of Object.keys(parameters))
      if (!parameterNames.includes(name)) throw invalid(`a fluid has no parameter ${shown(name)}; it has ${parameterNames.join(', ')}`)
  }

  #checkWalls(solid, velocity) {
    const { width, height } = this
    if (solid) checkArray('solid', solid, [Uint8Array, Uint8ClampedArray], width * height)
    if (velocity) checkArray('solidVelocity', velocity, [Float32Array], 2 * width * height)
    return { solid: solid?.slice(), velocity: velocity?.slice() }
  }

  /** A ts_fluid_parameters: the defaults of the library, then what was given. */
  #describe(arena) {
    const { runtime } = this
    const given = this.#parameters
    const address = arena.struct('ts_fluid_parameters')
    runtime.module._ts_fluid_default_parameters(address)
    const found = {}
    for (const [name, field] of Object.entries(numbers))
      if (given[name] !== undefined) found[field] = checkFinite(name, given[name])
    if (given.gravity) found.gravity = checkFloats('gravity', given.gravity, 2)
    if (given.advection !== undefined) {
      if (!['semi-lagrangian', 'maccormack'].includes(given.advection))
        throw invalid(`advection is ${shown(given.advection)}; it must be "semi-lagrangian" or "maccormack"`)
      found.advection = given.advection === 'maccormack' ? c.TS_FLUID_ADVECTION_MACCORMACK : c.TS_FLUID_ADVECTION_SEMI_LAGRANGIAN
    }
    if (given.pressure) found.pressure = describeSolver(runtime, arena, given.pressure, this.width * this.height)
    if (given.multigrid) {
      found.multigrid = {}
      for (const [name, kind] of Object.entries(cycles))
        if (given.multigrid[name] !== undefined)
          found.multigrid[name] = runtime.enumOf(kind === 'smoother' ? 'gridSmoother' : kind, given.multigrid[name], `multigrid.${name}`)
      for (const [name, field] of Object.entries(cycleNumbers))
        if (given.multigrid[name] !== undefined)
          found.multigrid[field] = checkNumber(`multigrid.${name}`, given.multigrid[name], { integer: true, least: 0, most: 30 })
    }
    runtime.memory.writeStruct('ts_fluid_parameters', address, found)
    return address
  }

  build() {
    const { runtime, width, height } = this
    const { cellSize, layout, sides: boundaries } = this.#given
    this.pointer = runtime.scope(arena => {
      const desc = { width, height, parameters: this.#describe(arena),
        layout: layout === 'collocated' ? c.TS_FLUID_LAYOUT_COLLOCATED : c.TS_FLUID_LAYOUT_STAGGERED }
      if (cellSize !== undefined) desc.cell_size = checkNumber('cellSize', cellSize)
      for (const side of sides)
        if (boundaries[side] !== undefined) desc[side] = describeBoundary(runtime, side, boundaries[side])
      const { solid, velocity } = this.#walls
      if (solid) desc.solid = arena.copy(solid)
      if (velocity) desc.solid_velocity = arena.copy(velocity)
      return runtime.create('ts_fluid_create', runtime.context, arena.struct('ts_fluid_desc', desc))
    })
    this.time = 0
    this.steps = 0
    if (this.#sources.length) this.#setSources(this.#sources)
  }

  /** Changes parameters of later steps. */
  setParameters(parameters) {
    const { runtime, pointer } = this
    runtime.checkIdle('setParameters')
    this.#checkNames(parameters)
    const before = this.#parameters
    this.#parameters = { ...before, ...parameters }
    try {
      runtime.scope(arena => runtime.call('ts_fluid_set_parameters', pointer, this.#describe(arena)))
    } catch (error) {
      this.#parameters = before
      throw error
    }
  }

  /** Replaces the solid cells; null: none. */
  setWalls(solid, velocity) {
    const { runtime, pointer } = this
    runtime.checkIdle('setWalls')
    const walls = this.#checkWalls(solid, velocity)
    runtime.scope(arena => runtime.call('ts_fluid_set_walls', pointer, walls.solid ? arena.copy(walls.solid) : 0,
      walls.velocity ? arena.copy(walls.velocity) : 0))
    this.#walls = walls
  }

  setBoundaries(boundaries) {
    const { runtime, pointer } = this
    runtime.checkIdle('setBoundaries')
    runtime.scope(arena => runtime.call('ts_fluid_set_boundaries', pointer, ...sides.map(side => boundaries[side] === undefined ? 0
      : arena.struct('ts_fluid_boundary', describeBoundary(runtime, side, boundaries[side])))))
    Object.assign(this.#given.sides, boundaries)
  }

  /** Replaces the sources, which act in each step. */
  setSources(sources) {
    this.runtime.checkIdle('setSources')
    this.#setSources(sources)
  }

  #setSources(sources) {
    const { runtime, pointer } = this
    if (!Array.isArray(sources)) throw invalid(`sources is ${shown(sources)}; it must be an array`)
    runtime.scope(arena => {
      const address = arena.struct('ts_fluid_source', {}, Math.max(sources.length, 1))
      sources.forEach((source, at) => runtime.memory.writeStruct('ts_fluid_source', address + at * sizeOf('ts_fluid_source'),
        describeSource(source, at)))
      runtime.call('ts_fluid_set_sources', pointer, address, sources.length)
    })
    this.#sources = sources
  }

  /** Adds a Gaussian to the fields, or several ones, which costs less than a call for each. */
  splat(...splats) {
    const { module, context } = this.runtime
    this.runtime.checkIdle('splat')
    module._tsw_set_staying(context, 1) // the state of WebGL is saved and restored once
    try {
      for (const splat of splats) this.#splat(splat)
    } finally {
      module._tsw_set_staying(context, 0)
    }
  }

  #splat({ x, y, radius, velocity, dye, temperature = 0 }) {
    const { runtime, pointer } = this
    for (const [name, value] of Object.entries({ x, y, radius, temperature })) checkFinite(name, value)
    runtime.scope(arena => {
      const floats = (name, values, count) => values ? arena.copy(Float32Array.from(checkFloats(name, values, count))) : 0
      runtime.call('ts_fluid_splat', pointer, x, y, radius, floats('velocity', velocity, 2), floats('dye', dye, 3), temperature)
    })
  }

  /** Particles that the flow advects, spread evenly; 0 x 0: none. */
  setParticles(width, height, lifetime = 0) {
    const { runtime, pointer } = this
    runtime.checkIdle('setParticles')
    runtime.call('ts_fluid_set_particles', pointer, checkNumber('width', width, { integer: true, least: 0 }),
      checkNumber('height', height, { integer: true, least: 0 }), checkNumber('lifetime', lifetime, { least: 0 }))
  }

  /** One step, inside a frame: no read-back, unless `measure` asks for the divergence. */
  step(dt, sources, { measure = false } = {}) {
    const { runtime, pointer } = this
    runtime.checkIdle('step')
    this.#prepare(dt, sources)
    return runtime.scope(arena => {
      const result = arena.struct('ts_fluid_result')
      runtime.call('ts_fluid_step', pointer, measure ? c.TS_FLUID_MEASURE_DIVERGENCE : 0, result)
      return this.#finish(result)
    })
  }

  /** One step with measurements, without blocking the page where that is possible. */
  measure(dt, sources, options) {
    const { runtime } = this
    return runtime.enqueue(async arena => {
      const { pointer } = this
      this.#prepare(dt, sources)
      const result = arena.struct('ts_fluid_result')
      await runtime.callPausing('ts_fluid_step', pointer, c.TS_FLUID_MEASURE_DIVERGENCE, result)
      return this.#finish(result)
    }, options)
  }

  #prepare(dt, sources) {
    const { runtime } = this
    if (dt !== undefined && dt !== this.#parameters.timeStep) {
      checkFinite('dt', dt)
      this.#parameters = { ...this.#parameters, timeStep: dt }
      runtime.scope(arena => runtime.call('ts_fluid_set_parameters', this.pointer, this.#describe(arena)))
    }
    if (sources) this.#setSources(sources)
  }

  #finish(address) {
    const result = this.runtime.memory.readStruct('ts_fluid_result', address)
    this.time = result.time
    this.steps = result.steps
    return { time: result.time, steps: result.steps, iterations: result.iterations, before: result.divergence_before,
      after: result.divergence_after, largestBefore: result.largest_before, largestAfter: result.largest_after,
      largestSpeed: result.largest_speed }
  }

  /** The divergence of the present velocity, in 1/s: { rms, largest }, computed from the faces of fluid cells. */
  async divergence(options) {
    const { runtime } = this
    return runtime.enqueue(() => {
      const { width, height } = this
      const u = this.#read('velocity')
      const walls = this.#read('walls')
      const h = this.info.cellSize
      let sum = 0, largest = 0, count = 0
      for (let j = 0; j < height; j++) {
        for (let i = 0; i < width; i++) {
          if (walls[2 * (j * width + i)]) continue
          const at = 2 * (j * (width + 1) + i)
          const value = (u[at + 2] - u[at] + u[at + 2 * (width + 1) + 1] - u[at + 1]) / h
          sum += value * value
          largest = Math.max(largest, Math.abs(value))
          count++
        }
      }
      return { rms: Math.sqrt(sum / Math.max(count, 1)), largest }
    }, options)
  }

  #read(name) {
    const { runtime, pointer } = this
    const vector = runtime.module[`_${fields[name]}`](pointer)
    if (!vector) return new Float32Array(0)
    return runtime.scope(arena => {
      const components = runtime.module._ts_vector_get_components(vector)
      const size = runtime.module._ts_space_get_size(runtime.module._ts_vector_get_space(vector))
      const output = arena.output(Float32Array, size * components)
      runtime.call('ts_vector_read', vector, arena.array(output))
      return arena.result(Float32Array, output)
    })
  }

  #checkField(name) {
    if (!Object.hasOwn(fields, name)) throw invalid(`a fluid has no field ${shown(name)}; it has ${Object.keys(fields).join(', ')}`)
  }

  /** A field on the host: waits for the device. */
  read(name) {
    this.#checkField(name)
    void this.pointer
    this.runtime.checkIdle('read')
    return this.#read(name)
  }

  /** Replaces the velocity or the dye by what read() returned earlier, for example after restore(). */
  write(name, values) {
    const { runtime, pointer } = this
    if (name !== 'velocity' && name !== 'dye') throw invalid(`name is ${shown(name)}; it must be "velocity" or "dye"`)
    runtime.checkIdle('write')
    const { width, height } = this
    checkNumbers('values', values, name === 'dye' ? 4 * width * height : 2 * (width + 1) * (height + 1))
    const vector = runtime.module[`_${fields[name]}`](pointer)
    runtime.scope(arena => runtime.call('ts_vector_write', vector, arena.array(arena.input(values))))
  }

  /** Where a field is on the device. Valid until the next step, which swaps the textures. */
  texture(name) {
    this.#checkField(name)
    const { runtime, pointer } = this
    const vector = runtime.module[`_${fields[name]}`](pointer)
    return vector ? textureOf(runtime, vector) : undefined
  }

  get textures() {
    const fluid = this
    const found = {}
    for (const name of Object.keys(fields))
      Object.defineProperty(found, name, { enumerable: true, get() { return fluid.texture(name) } })
    return found
  }

  get info() {
    const { runtime, pointer } = this
    return runtime.scope(arena => {
      const address = arena.struct('ts_fluid_info')
      runtime.call('ts_fluid_get_info', pointer, address)
      const info = runtime.memory.readStruct('ts_fluid_info', address)
      return { width: info.width, height: info.height, cellSize: info.cell_size, fluidCells: info.fluid_cells, levels: info.levels,
        closed: info.closed, outletClosed: info.outlet_closed === 1, inflow: info.inflow, incompatible: info.incompatible,
        bytes: info.bytes_device }
    })
  }

  /** Fluid at rest without dye; walls, sources and parameters stay. */
  reset() {
    const { runtime, pointer } = this
    runtime.checkIdle('reset')
    runtime.call('ts_fluid_reset', pointer)
    this.time = 0
    this.steps = 0
  }
}
