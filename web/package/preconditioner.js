// Preconditioners as objects, and hierarchies of algebraic multigrid.
import { invalid, shown } from './errors.js'
import { checkArray, checkNumber, checkNumbers, floats } from './memory.js'
import { NativeObject } from './runtime.js'
import { Solver } from './solve.js'

const integers = { // option: field and range
  amg: { sweeps: ['sweeps', 1, 16], visits: ['visits', 1, 2], maxLevels: ['max_levels', 1, 30], coarsest: ['coarsest', 1, 1000],
         unknowns: ['unknowns', 1, 8] },
  others: { blockSize: ['block_size', 2, 16], degree: ['degree', 1, 16], levels: ['levels', -1, 100], sweeps: ['sweeps', 0, 32] }
}

function checkKnown(options, known) {
  if (!options || typeof options !== 'object') throw invalid(`options is ${shown(options)}; it must be an object`)
  for (const name of Object.keys(options))
    if (!known.includes(name)) throw invalid(`there is no option ${shown(name)}; the options are ${known.join(', ')}`)
}

function describeIntegers(options, table, fields) {
  for (const [name, [field, least, most]] of Object.entries(table))
    if (options[name] !== undefined) fields[field] = checkNumber(name, options[name], { integer: true, least, most })
  return fields
}

/** The fields of a ts_amg_desc. */
function describeAmg(runtime, arena, options, rows) {
  const { strength, smoother, nearNull, coordinates, dimensions = 3 } = options
  const fields = describeIntegers(options, integers.amg, {})
  if (strength !== undefined) fields.strength = checkNumber('strength', strength, { least: 0 }) === 0 ? -1 : strength
  if (smoother !== undefined) fields.smoother = runtime.enumOf('smoother', smoother, 'smoother')
  if (nearNull) {
    checkNumbers('nearNull', nearNull)
    if (!nearNull.length || nearNull.length % rows)
      throw invalid(`nearNull has ${nearNull.length} elements; expected ${rows} for each vector`)
    fields.near_null_vectors = nearNull.length / rows
    fields.near_null = arena.input(nearNull)
  }
  if (coordinates) {
    checkNumbers('coordinates', coordinates, rows)
    fields.dimensions = fields.unknowns = checkNumber('dimensions', dimensions, { integer: true, least: 2, most: 3 })
    fields.coordinates = arena.input(coordinates)
  }
  return fields
}

/** A preconditioner of a matrix, for solvers of that matrix. */
export class Preconditioner extends NativeObject {
  #options

  constructor(matrix, options) {
    super(matrix.runtime, 'ts_preconditioner_destroy')
    this.matrix = matrix
    this.isPreconditioner = true
    this.#options = { ...options }
  }

  /** Creates the native object, after all asynchronous calls before it. */
  static async create(Kind, matrix, options = {}) {
    const made = new Kind(matrix, options)
    try {
      await matrix.runtime.enqueue(() => made.build())
    } catch (error) {
      made.dispose()
      throw error
    }
    return made
  }

  describe(runtime, arena) {
    const options = this.#options
    checkKnown(options, ['kind', 'fill', 'dropTolerance', 'scaling', ...Object.keys(integers.others)])
    const { kind = 'auto', fill, dropTolerance, scaling } = options
    const fields = describeIntegers(options, integers.others, { kind: runtime.enumOf('preconditioner', kind, 'kind') })
    if (fill !== undefined) fields.fill = checkNumber('fill', fill, { least: 1, most: 1000 })
    if (dropTolerance !== undefined)
      fields.drop_tolerance = checkNumber('dropTolerance', dropTolerance, { least: 0, most: 1 }) === 0 ? -1 : dropTolerance
    if (scaling !== undefined) fields.scaling = runtime.enumOf('scaling', scaling, 'scaling')
    return fields
  }

  get options() {
    return this.#options
  }

  build() {
    const { runtime, matrix } = this
    this.pointer = runtime.scope(arena => runtime.create('ts_preconditioner_create', matrix.pointer,
      arena.struct('ts_preconditioner_desc', this.describe(runtime, arena))))
  }

  /** Computes the preconditioner again, after matrix.update(). */
  update() {
    const { runtime } = this
    return runtime.enqueue(() => { runtime.call('ts_preconditioner_update', this.pointer) })
  }

  get info() {
    const { runtime, pointer } = this
    const info = runtime.scope(arena => {
      const address = arena.struct('ts_preconditioner_info')
      runtime.call('ts_preconditioner_get_info', pointer, address)
      return runtime.memory.readStruct('ts_preconditioner_info', address)
    })
    return { kind: runtime.textOf('preconditioner', info.kind), choice: info.choice, products: info.products,
             symmetric: info.symmetric === 1, secondsSetup: info.seconds_setup, bytes: info.bytes_device }
  }

  /** z = M^-1 r, of r's type. Waits for the device. */
  apply(r) {
    const { runtime, matrix, pointer } = this
    runtime.checkIdle('apply')
    checkArray('r', r, floats, matrix.rows)
    return runtime.scope(arena => {
      const space = runtime.module._ts_matrix_get_row_space(matrix.pointer)
      const vectors = []
      try {
        for (let k = 0; k < 2; k++) vectors.push(runtime.create('ts_vector_create', space, 0))
        runtime.call('ts_vector_write', vectors[0], arena.array(arena.input(r)))
        runtime.call('ts_preconditioner_apply', pointer, vectors[1], vectors[0])
        const z = arena.output(r.constructor, matrix.rows)
        runtime.call('ts_vector_read', vectors[1], arena.array(z))
        return arena.result(r.constructor, z)
      } finally {
        for (const vector of vectors) runtime.destroy({ pointer: vector, destroy: 'ts_vector_destroy' })
      }
    })
  }
}

/** A hierarchy of algebraic multigrid by smoothed aggregation. */
export class Amg extends Preconditioner {
  describe(runtime, arena) {
    const { options } = this
    checkKnown(options, ['strength', 'smoother', 'nearNull', 'coordinates', 'dimensions', ...Object.keys(integers.amg)])
    return { kind: runtime.enumOf('preconditioner', 'amg', 'kind'),
             amg: arena.struct('ts_amg_desc', describeAmg(runtime, arena, options, this.matrix.rows)) }
  }

  get #amgInfo() {
    const { runtime, pointer } = this
    return runtime.scope(arena => {
      const address = arena.struct('ts_amg_info')
      runtime.call('ts_preconditioner_get_amg_info', pointer, address)
      return runtime.memory.readStruct('ts_amg_info', address)
    })
  }

  get operatorComplexity() {
    return this.#amgInfo.operator_complexity
  }

  get gridComplexity() {
    return this.#amgInfo.grid_complexity
  }

  /** The levels, the finest first: { rows, entries, eigenvalue }. */
  get levels() {
    const { runtime, pointer } = this
    return runtime.scope(arena => {
      const address = arena.struct('ts_amg_level_info')
      return Array.from({ length: this.#amgInfo.levels }, (_, level) => {
        runtime.call('ts_preconditioner_get_amg_level', pointer, level, address)
        const { rows, entries, eigenvalue } = runtime.memory.readStruct('ts_amg_level_info', address)
        return { rows, entries, eigenvalue }
      })
    })
  }

  /** Solves with a cycle as the preconditioner, or with cycles alone by method "richardson". */
  async solve(b, options = {}) {
    const { signal, onProgress, x0, ...rest } = options
    const { matrix } = this
    const components = matrix.componentsOf('b', b, matrix.rows)
    if (x0 !== undefined) checkArray('x0', x0, floats, matrix.columns * components)
    const given = b.slice()
    const start = x0?.slice()
    return this.runtime.enqueue(async (arena, current) => {
      const solver = new Solver(matrix, { ...rest, preconditioner: this }, true)
      try {
        return await solver.run(arena, current, given, start, components)
      } finally {
        solver.dispose()
      }
    }, { signal, onProgress })
  }
}
