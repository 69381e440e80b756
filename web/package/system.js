// The system builder: equations row by row, with locked unknowns and least squares.
import { invalid, shown } from './errors.js'
import { constants as c } from './layout.js'
import { checkNumber, checkNumbers } from './memory.js'
import { NativeObject } from './runtime.js'
import { describeSolver } from './solve.js'

/** A typed array that grows. */
class List {
  constructor(Type) {
    this.array = new Type(64)
    this.count = 0
  }

  push(value) {
    if (this.count === this.array.length) {
      const larger = new this.array.constructor(2 * this.count)
      larger.set(this.array)
      this.array = larger
    }
    this.array[this.count++] = value
  }

  get used() {
    return this.array.subarray(0, this.count)
  }
}

const normals = { auto: c.TS_NORMAL_AUTO, formed: c.TS_NORMAL_FORMED, applied: c.TS_NORMAL_APPLIED }

/** Equations, which a solve hands to the library. */
export class System extends NativeObject {
  #options
  #values
  #locked = new Set()
  #changes = 0 // of the equations; those that the library has are #handed
  #handed = -1

  constructor(runtime, given) {
    super(runtime, 'ts_system_destroy')
    this.attempt(() => {
      runtime.checkIdle('system')
      const options = typeof given === 'number' ? { unknowns: given } : given ?? {}
      const { unknowns, components = 1, leastSquares = false, symmetric = false, allowSingular = false } = options
      this.unknowns = checkNumber('unknowns', unknowns, { integer: true, least: 1, most: 2 ** 31 - 1024 })
      this.components = checkNumber('components', components, { integer: true, least: 1, most: 4 })
      this.#options = { least_squares: leastSquares ? 1 : 0, symmetric: symmetric ? 1 : 0, allow_singular: allowSingular ? 1 : 0 }
      this.#values = new Float64Array(this.unknowns * this.components)
      this.clear()
      this.build()
    })
  }

  build() {
    const { runtime, unknowns, components } = this
    this.pointer = runtime.scope(arena => runtime.create('ts_system_create', runtime.context,
      arena.struct('ts_system_desc', { unknowns, components, ...this.#options })))
    for (const unknown of this.#locked) runtime.call('ts_system_lock', this.pointer, unknown)
    this.#handed = -1
  }

  /** Discards the equations. */
  clear() {
    this.offsets = new List(Int32Array)
    this.offsets.push(0)
    this.columns = new List(Int32Array)
    this.coefficients = new List(Float64Array)
    this.rightHandSides = new List(Float64Array)
    this.weights = new List(Float64Array)
    this.entries = { i: new List(Int32Array), j: new List(Int32Array), a: new List(Float64Array) }
    this.#changes++
  }

  get rows() {
    return this.weights.count
  }

  #checkUnknown(name, unknown) {
    return checkNumber(name, unknown, { integer: true, least: 0, most: this.unknowns - 1 })
  }

  #tuple(name, value) {
    const tuple = typeof value === 'number' ? [value] : value
    if (!tuple || tuple.length !== this.components) throw invalid(`${name} is ${shown(value)}; expected ${this.components} numbers`)
    for (const number of tuple) {
      checkNumber(name, number)
      if (!Number.isFinite(number)) throw invalid(`${name} is ${number}; it must be finite`)
    }
    return tuple
  }

  /** Adds the equation sum coefficients[k] x[unknowns[k]] = rightHandSide. */
  row(unknowns, coefficients, rightHandSide = this.components === 1 ? 0 : new Array(this.components).fill(0), weight = 1) {
    if (!(unknowns?.length >= 0) || unknowns.length !== coefficients?.length)
      throw invalid(`row ${this.rows} has ${unknowns?.length} unknowns and ${coefficients?.length} coefficients; expected as many`)
    for (let k = 0; k < unknowns.length; k++) {
      this.#checkUnknown(`row ${this.rows}, unknowns[${k}]`, unknowns[k])
      if (!Number.isFinite(coefficients[k])) throw invalid(`row ${this.rows}, coefficients[${k}] is ${coefficients[k]}; it must be finite`)
    }
    const right = this.#tuple(`row ${this.rows}, rightHandSide`, rightHandSide)
    checkNumber('weight', weight, { least: this.#options.least_squares ? 0 : -Infinity })
    for (let k = 0; k < unknowns.length; k++) {
      this.columns.push(unknowns[k])
      this.coefficients.push(coefficients[k])
    }
    for (const number of right) this.rightHandSides.push(number)
    this.weights.push(weight)
    this.offsets.push(this.columns.count)
    this.#changes++
    return this
  }

  /** Adds `a` to the coefficient of unknown j in equation i. */
  add(i, j, a) {
    this.#checkUnknown('i', i)
    this.#checkUnknown('j', j)
    checkNumber('a', a)
    this.entries.i.push(i)
    this.entries.j.push(j)
    this.entries.a.push(a)
    this.#changes++
    return this
  }

  /** Adds b to the right-hand side of equation i. */
  addRightHandSide(i, b, component = 0) {
    checkNumber('component', component, { integer: true, least: 0, most: this.components - 1 })
    return this.#addRight(this.#checkUnknown('i', i), checkNumber('b', b), component)
  }

  #addRight(i, b, component) {
    this.entries.i.push(-1 - i) // a right-hand side: `j` is its component
    this.entries.j.push(component)
    this.entries.a.push(b)
    this.#changes++
    return this
  }

  /** Sets the value of an unknown: the start of the next solve, or what a locked unknown keeps. */
  set(unknown, value) {
    this.#checkUnknown('unknown', unknown)
    this.#values.set(this.#tuple('value', value), unknown * this.components)
    return this
  }

  lock(unknown, value) {
    this.#checkUnknown('unknown', unknown)
    this.runtime.checkIdle('lock')
    if (value !== undefined) this.set(unknown, value)
    this.runtime.call('ts_system_lock', this.pointer, unknown)
    this.#locked.add(unknown)
    return this
  }

  unlock(unknown) {
    this.#checkUnknown('unknown', unknown)
    this.runtime.checkIdle('unlock')
    this.runtime.call('ts_system_unlock', this.pointer, unknown)
    this.#locked.delete(unknown)
    return this
  }

  /** The values of all unknowns: component k of unknown i is values[i * components + k]. */
  get values() {
    return this.#values.slice()
  }

  set values(values) {
    this.#values.set(checkNumbers('values', values, this.unknowns * this.components))
  }

  #handOver(arena) {
    const { runtime, pointer } = this
    if (this.#handed !== this.#changes) {
      const { i, j, a } = this.entries
      runtime.call('tsw_system_assemble', pointer, this.components, this.rows, arena.copy(this.offsets.used), arena.copy(this.columns.used),
        arena.copy(this.coefficients.used), arena.copy(this.rightHandSides.used), arena.copy(this.weights.used), i.count,
        arena.copy(i.used), arena.copy(j.used), arena.copy(a.used))
      this.#handed = this.#changes
    }
    runtime.call('ts_system_set_values', pointer, arena.array(arena.input(this.#values)))
  }

  /** Solves the system from the present values, and keeps the solution as the values. */
  async solve(options = {}) {
    const { runtime } = this
    const { signal, onProgress, normal = 'auto', order = 'auto', ...rest } = options
    if (!Object.hasOwn(normals, normal)) throw invalid(`normal is ${shown(normal)}; it must be "auto", "formed" or "applied"`)
    if (!['auto', 'natural', 'rcm'].includes(order)) throw invalid(`order is ${shown(order)}; it must be "auto", "natural" or "rcm"`)
    void this.pointer
    return runtime.enqueue(async (arena, current) => {
      this.#handOver(arena)
      const desc = arena.struct('ts_system_solve_desc', { normal: normals[normal], order: order === 'rcm' ? c.TS_ORDER_RCM : 0,
        solver: { ...describeSolver(runtime, arena, rest, this.unknowns), progress: runtime.module._tsw_get_progress() } })
      const result = arena.struct('ts_system_result')
      const status = await runtime.callPausing('ts_system_solve', this.pointer, desc, result)
      const found = runtime.memory.readStruct('ts_system_result', result)
      const output = arena.output(Float64Array, this.unknowns * this.components)
      runtime.call('ts_system_get_values', this.pointer, arena.array(output))
      this.#values = arena.result(Float64Array, output)
      return { x: this.values, converged: status === 0, reason: runtime.memory.text(runtime.module._ts_reason_text(found.reason)),
        message: found.message, residual: found.relative_residual, normalResidual: found.normal_residual, iterations: found.iterations,
        seconds: (performance.now() - current.begin) / 1000, method: runtime.textOf('method', found.method),
        rows: found.rows, unknowns: found.unknowns, entries: found.nonzeros, choice: found.choice,
        history: Float64Array.from(current.history) }
    }, { signal, onProgress })
  }
}
