// What contexts of texsolve and of texsolve/core have: the device, matrices, solvers, preconditioners.
import { closeContext, openContext, readInfo } from './context.js'
import { invalid, shown } from './errors.js'
import { Matrix } from './matrix.js'
import { readMatrixMarket } from './matrix-market.js'
import { Amg, Preconditioner } from './preconditioner.js'
import { Solver } from './solve.js'
import { infoGL } from './textures.js'

const longestWait = 10000 // milliseconds for the browser to restore a context

/** Resolves when the browser has restored a context. */
function restored(gl) {
  if (!gl?.isContextLost()) return undefined
  return new Promise(resolve => {
    const timer = setTimeout(resolve, longestWait)
    gl.canvas.addEventListener('webglcontextrestored', () => {
      clearTimeout(timer)
      setTimeout(resolve) // after the caller's own listeners
    }, { once: true })
  })
}

export class Core {
  #runtime
  #options
  #lost

  constructor(runtime, options) {
    this.#runtime = runtime
    this.#options = options
    this.#watch()
  }

  get runtime() {
    return this.#runtime
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

  /** Reads a matrix in Matrix Market's format: { matrix, ... }, or { array, ... } for a dense file. */
  async readMatrixMarket(source, options) {
    const { triplets, ...found } = await readMatrixMarket(source, options)
    if (!triplets) return found
    return { matrix: this.matrix({ triplets, rows: found.rows, columns: found.columns }), ...found }
  }

  /** Whether the context is the caller's, or on the caller's canvas. */
  get #isKept() {
    return Boolean(this.#options.gl ?? this.#options.canvas)
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

  /** Builds everything again, from copies on the host: after a loss, or in another context. A lost context of the caller or
   * of a canvas is waited for. */
  restore(gl) {
    const runtime = this.#runtime
    const result = runtime.queue.then(async () => {
      if (!gl && this.#isKept) await restored(runtime.gl)
      const objects = runtime.liveObjects()
      for (const object of objects.toReversed?.() ?? [...objects].reverse()) object.forget()
      closeContext(runtime)
      runtime.isLost = false
      if (gl) this.#options = { ...this.#options, gl }
      await openContext(runtime, this.#options)
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
if (Symbol.dispose) Core.prototype[Symbol.dispose] = Core.prototype.dispose
