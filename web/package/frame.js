// A fixed number of iterations inside a frame: synchronous, without a read-back.
import { checkNumber } from './memory.js'
import { NativeObject } from './runtime.js'
import { describeSolver } from './solve.js'
import { texelsOf, textureOf } from './textures.js'

export class Frame extends NativeObject {
  #options
  #right
  #x
  #b

  constructor(matrix, b, { iterations = 8, ...options } = {}) {
    super(matrix.runtime, 'ts_solver_destroy')
    const { runtime } = matrix
    this.matrix = matrix
    this.attempt(() => {
      runtime.checkIdle('frame')
      checkNumber('iterations', iterations, { integer: true, least: 1, most: 1000000 })
      this.components = matrix.componentsOf('b', b, matrix.rows)
      this.#options = { preconditioner: 'jacobi', precision: 'single', ...options, iterations }
      this.#b = b.slice()
      this.build()
    })
  }

  build() {
    const { runtime, matrix, components } = this
    const { module } = runtime
    this.pointer = runtime.scope(arena => runtime.create('ts_solver_create', matrix.pointer,
      arena.struct('ts_solver_desc', describeSolver(runtime, arena, this.#options, matrix.columns))))
    const vector = space => {
      const found = new NativeObject(runtime, 'ts_vector_destroy')
      found.build = () => {} // made again with the frame
      found.pointer = runtime.scope(arena => runtime.create('ts_vector_create', space,
        arena.struct('ts_vector_desc', { components, precision: runtime.enumOf('precision', 'single', 'precision') })))
      return found
    }
    this.#right = vector(module._ts_matrix_get_row_space(matrix.pointer))
    this.#x = vector(module._ts_matrix_get_column_space(matrix.pointer))
    this.update(this.#b)
  }

  /** Replaces b. The next solve starts from the present x. */
  update(b) {
    const { runtime } = this
    void this.pointer
    runtime.checkIdle('update')
    this.matrix.componentsOf('b', b, this.matrix.rows)
    runtime.scope(arena => runtime.call('ts_vector_write', this.#right.pointer, arena.array(arena.input(b))))
    this.#b = b.slice()
    this.step()
  }

  /** Iterates from the present x. */
  step() {
    const { runtime, pointer } = this
    runtime.checkIdle('step')
    runtime.call('ts_solver_solve', pointer, this.#right.pointer, this.#x.pointer, 0)
  }

  /** Sets x back to 0. */
  reset() {
    this.runtime.checkIdle('reset')
    this.runtime.call('ts_vector_fill', this.#x.pointer, 0)
  }

  /** Where x is on the device: a texture of the context that the library draws in. */
  get texture() {
    return this.region.texture
  }

  get region() {
    const { runtime } = this
    void this.pointer
    return textureOf(runtime, this.#x.pointer)
  }

  /** x on the host: waits for the device. */
  read(Type = Float32Array) {
    const { runtime } = this
    void this.pointer
    runtime.checkIdle('read')
    return runtime.scope(arena => {
      const output = arena.output(Type, this.matrix.columns * this.components)
      runtime.call('ts_vector_read', this.#x.pointer, arena.array(output))
      return arena.result(Type, output)
    })
  }

  /** The texel of each unknown, relative to the region: x and y in turn. */
  get texels() {
    const { runtime } = this
    const space = runtime.module._ts_matrix_get_column_space(this.matrix.pointer)
    return texelsOf(runtime, space, this.matrix.columns)
  }

  dispose() {
    this.#right?.dispose()
    this.#x?.dispose()
    super.dispose()
  }
}
