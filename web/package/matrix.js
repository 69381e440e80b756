// Sparse matrices.
import { TexsolveError, invalid, shown } from './errors.js'
import { checkArray, checkNumber, checkNumbers, floats } from './memory.js'
import { NativeObject } from './runtime.js'
import { solve } from './solve.js'
import { Frame } from './frame.js'
import { texelsOf } from './textures.js'

const most = 2 ** 31 - 1

/** Checks the arrays of a matrix and returns them with its sizes. */
function checkSource(given) {
  if (!given || typeof given !== 'object') throw invalid(`the matrix is ${shown(given)}; it must be an object with arrays`)
  const { triplets } = given
  if (triplets) {
    const { rows, columns, values } = triplets
    checkArray('triplets.rows', rows, [Int32Array])
    checkArray('triplets.columns', columns, [Int32Array], rows.length)
    checkNumbers('triplets.values', values, rows.length)
    const largest = array => array.reduce((a, b) => Math.max(a, b), -1) + 1
    const rowCount = given.rows ?? largest(rows)
    return { rows: checkSize('rows', rowCount), columns: checkSize('columns', given.columns ?? Math.max(rowCount, largest(columns))),
             row: rows, column: columns, values, isTriplets: true }
  }
  const { rowOffsets, columnIndices, values } = given
  checkArray('rowOffsets', rowOffsets, [Int32Array])
  if (rowOffsets.length < 2) throw invalid(`rowOffsets has ${rowOffsets.length} elements; it must have rows + 1, at least 2`)
  const rows = checkSize('rows', given.rows ?? rowOffsets.length - 1)
  checkArray('rowOffsets', rowOffsets, [Int32Array], rows + 1)
  const entries = rowOffsets[rows]
  if (entries < 0) throw invalid(`rowOffsets[${rows}] is ${entries}; offsets ascend from 0`)
  checkArray('columnIndices', columnIndices, [Int32Array], entries)
  checkNumbers('values', values, entries)
  return { rows, columns: checkSize('columns', given.columns ?? rows), row: rowOffsets, column: columnIndices, values,
           isTriplets: false }
}

function checkSize(name, value) {
  return checkNumber(name, value, { integer: true, least: 1, most })
}

export class Matrix extends NativeObject {
  #source
  #options

  constructor(runtime, given) {
    super(runtime, 'ts_matrix_destroy')
    this.attempt(() => {
      runtime.checkIdle('matrix')
      this.#source = checkSource(given)
      const { constrained } = given
      if (constrained) checkArray('constrained', constrained, [Uint8Array], this.#source.rows)
      this.#options = {
        format: given.format === undefined ? 0 : runtime.enumOf('format', given.format, 'format'),
        constrained: constrained?.slice(),
        components: given.components === undefined ? 0 : checkNumber('components', given.components, { integer: true, least: 1, most: 4 }),
        precision: given.precision === undefined ? 0 : runtime.enumOf('precision', given.precision, 'precision')
      }
      this.build()
      this.#keep()
    })
  }

  // Arrays that the caller may change are copied where a lost context would need them, and for update().
  #keep() {
    const { rows, columns, row, column, values, isTriplets } = this.#source
    this.rows = rows
    this.columns = columns
    this.entries = isTriplets ? this.info.entries : row[rows]
    this.#source = { ...this.#source, row: row.slice(), column: column.slice(), values: values.slice(), valueCount: values.length }
  }

  /** The source's arrays in memory, as ts_csr or ts_triplets. */
  #describe(arena, values) {
    const { rows, columns, row, column, isTriplets } = this.#source
    const fields = { rows, columns, column_indices: arena.input(column), values: arena.input(values) }
    return isTriplets ? { triplets: arena.struct('ts_triplets', { ...fields, row_indices: arena.input(row) }) }
      : { csr: { ...fields, row_offsets: arena.input(row) } }
  }

  build() {
    const { runtime } = this
    this.pointer = runtime.scope(arena => {
      const { constrained, ...options } = this.#options
      const fields = { ...this.#describe(arena, this.#source.values), ...options, keep_host_copy: 1 }
      if (constrained) fields.constrained = arena.copy(constrained)
      return runtime.create('ts_matrix_create', runtime.context, arena.struct('ts_matrix_desc', fields))
    })
  }

  /** Replaces the values; the pattern stays. */
  update(values) {
    const { runtime } = this
    checkNumbers('values', values, this.#source.valueCount)
    const { pointer } = this
    runtime.checkIdle('update')
    runtime.scope(arena => {
      const described = this.#describe(arena, values)
      if (described.triplets) runtime.call('ts_matrix_set_triplets', pointer, described.triplets)
      else runtime.call('ts_matrix_set_values', pointer, arena.struct('ts_csr', described.csr))
    })
    this.#source.values = values.slice()
  }

  get info() {
    const { runtime, pointer } = this
    const info = runtime.scope(arena => {
      const address = arena.struct('ts_matrix_info')
      runtime.call('ts_matrix_get_info', pointer, address)
      return runtime.memory.readStruct('ts_matrix_info', address)
    })
    return {
      rows: info.rows, columns: info.columns, entries: info.nonzeros, duplicates: info.duplicates,
      format: runtime.textOf('format', info.format), choice: info.choice, symmetric: info.symmetric === 1,
      longestRow: info.longest_row, zeroDiagonalRow: info.zero_diagonal_row, unsymmetricRow: info.unsymmetric_row,
      unsymmetricColumn: info.unsymmetric_column, negativeDiagonal: info.negative_diagonal === 1,
      constrainedRows: info.constrained_rows, bytes: info.bytes_device + info.bytes_low_order,
      rectangles: info.rectangles, secondsLayout: info.seconds_layout, secondsUpload: info.seconds_upload
    }
  }

  /** The number of components of an array over the rows or columns. */
  componentsOf(name, array, size) {
    checkArray(name, array, floats)
    const components = array.length / size
    if (!Number.isInteger(components) || components < 1 || components > 4) {
      checkArray(name, array, floats, size) // says that it is detached, if it is
      throw invalid(`${name} has ${array.length} elements; expected ${size}, or 2 to 4 times as many`)
    }
    return components
  }

  /** A x, of x's type. Waits for the device. */
  multiply(x) {
    const { runtime, pointer } = this
    runtime.checkIdle('multiply')
    const components = this.componentsOf('x', x, this.columns)
    return runtime.scope(arena => {
      const { module } = runtime
      const desc = arena.struct('ts_vector_desc', { components })
      const vectors = []
      try {
        for (const space of [module._ts_matrix_get_column_space(pointer), module._ts_matrix_get_row_space(pointer)])
          vectors.push(runtime.create('ts_vector_create', space, desc))
        runtime.call('ts_vector_write', vectors[0], arena.array(arena.input(x)))
        runtime.call('ts_matrix_multiply', vectors[1], pointer, vectors[0])
        const y = arena.output(x.constructor, this.rows * components)
        runtime.call('ts_vector_read', vectors[1], arena.array(y))
        return arena.result(x.constructor, y)
      } finally {
        for (const vector of vectors) runtime.destroy({ pointer: vector, destroy: 'ts_vector_destroy' })
      }
    })
  }

  /** Copies of the arrays that the matrix was made from. */
  arrays() {
    const { row, column, values, isTriplets } = this.#source
    return isTriplets ? { triplets: { rows: row.slice(), columns: column.slice(), values: values.slice() } }
      : { rowOffsets: row.slice(), columnIndices: column.slice(), values: values.slice() }
  }

  /** The texel of each row in a vector's texture: x and y in turn. Only on WebGL. */
  texels() {
    return texelsOf(this.runtime, this.runtime.module._ts_matrix_get_row_space(this.pointer), this.rows)
  }

  async solve(b, options = {}) {
    return solve(this, b, options)
  }

  frame(b, options = {}) {
    if (this.isDisposed) throw new TexsolveError('disposed', 'this Matrix is disposed of')
    return new Frame(this, b, options)
  }
}
