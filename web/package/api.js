// The object that open() returns.
import { closeContext, openContext, readInfo } from './context.js'
import { Contacts, lcp } from './contacts.js'
import { invalid, shown } from './errors.js'
import { Fluid } from './fluid.js'
import { Mesh, lscm } from './mesh.js'
import { Matrix } from './matrix.js'
import { readMatrixMarket } from './matrix-market.js'
import { Amg, Preconditioner } from './preconditioner.js'
import { Solver } from './solve.js'
import { System } from './system.js'
import { infoGL } from './textures.js'

export class Texsolve {
  #runtime
  #options
  #lost

  constructor(runtime, options) {
    this.#runtime = runtime
    this.#options = options
    this.#watch()
  }

  /** The device and why it was taken. */
  get info() {
    const runtime = this.#runtime
    runtime.check()
    const found = readInfo(runtime)
    return {
      version: runtime.memory.text(runtime.module._ts_version()),
      backend: runtime.isGL ? 'gl' : 'cpu', device: found.device, driver: found.driver, reason: runtime.reason,
      isHardware: found.is_hardware === 1, canPause: runtime.canPause, bytesDevice: found.bytes_device,
      bytesMemory: runtime.memory.present().bytes.length, synchronisations: found.host_synchronisations,
      secondsShaders: found.seconds_shaders, ...infoGL(runtime)
    }
  }

  get gl() {
    return this.#runtime.gl
  }

  /** Resolves when the context is lost, to the reason. */
  get lost() {
    return this.#lost
  }

  matrix(given) {
    return new Matrix(this.#runtime, given)
  }

  solver(matrix, options) {
    return new Solver(this.#checkMatrix(matrix), options)
  }

  async amg(matrix, options) {
    return Preconditioner.create(Amg, this.#checkMatrix(matrix), options)
  }

  async preconditioner(matrix, options) {
    return Preconditioner.create(Preconditioner, this.#checkMatrix(matrix), options)
  }

  system(given) {
    return new System(this.#runtime, given)
  }

  contacts(given) {
    return new Contacts(this.#runtime, given)
  }

  async lcp(given) {
    return lcp(this.#runtime, given)
  }

  fluid(given) {
    return new Fluid(this.#runtime, given)
  }

  mesh(given) {
    return new Mesh(this.#runtime, given)
  }

  async lscm(given) {
    return lscm(this.#runtime, given)
  }

  /** Reads a matrix in Matrix Market's format: { matrix, ... }, or { array, ... } for a dense file. */
  async readMatrixMarket(source, options) {
    const { triplets, ...found } = await readMatrixMarket(source, options)
    if (!triplets) return found
    return { matrix: this.matrix({ triplets, rows: found.rows, columns: found.columns }), ...found }
  }

  #checkMatrix(matrix) {
    if (!(matrix instanceof Matrix) || matrix.runtime !== this.#runtime)
      throw invalid(`the matrix is ${shown(matrix)}; it must be one of matrix() of the same context`)
    return matrix
  }

  #watch() {
    const runtime = this.#runtime
    this.#lost = new Promise(resolve => { runtime.onLost = resolve })
    if (!runtime.isGL) return
    const isOwn = !this.#options.gl
    const target = runtime.gl.canvas
    target?.addEventListener?.('webglcontextlost', event => {
      if (isOwn) event.preventDefault() // so that the browser restores it
      runtime.lose('the WebGL context was lost')
    }, { once: true })
  }

  /** Builds everything again, from copies on the host: after a loss, or in another context. */
  restore(gl) {
    const runtime = this.#runtime
    const result = runtime.queue.then(async () => {
      const objects = runtime.liveObjects()
      for (const object of objects.toReversed?.() ?? [...objects].reverse()) object.forget()
      closeContext(runtime)
      runtime.isLost = false
      await openContext(runtime, { ...this.#options, ...gl ? { gl } : {} })
      this.#watch()
      for (const object of objects) if (!object.isDisposed) object.build()
    })
    runtime.queue = result.catch(() => {})
    return result
  }

  /** Disposes of all objects and the context, after the calls that wait. */
  dispose() {
    const runtime = this.#runtime
    if (runtime.isClosed) return
    const close = () => {
      for (const object of runtime.liveObjects().reverse()) object.dispose()
      closeContext(runtime)
      runtime.isClosed = true
    }
    if (runtime.current) runtime.queue = runtime.queue.then(close)
    else close()
  }
}
if (Symbol.dispose) Texsolve.prototype[Symbol.dispose] = Texsolve.prototype.dispose
