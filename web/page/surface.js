// The page's canvas, its WebGL 2 context and the library on it: made once, shared by all parts.

import { Quality } from './quality.js'

export class Surface {
  canvas = document.createElement('canvas')
  gl = null
  isLost = false
  quality = new Quality()
  onLost = () => {}
  onRestored = () => {}
  #messages
  #opening = null
  #library = null // when it is open

  constructor(messages) {
    this.#messages = messages
    const options = { alpha: false, antialias: false, depth: true, stencil: false, preserveDrawingBuffer: false,
      powerPreference: 'high-performance' }
    this.gl = this.canvas.getContext('webgl2', options)
    this.canvas.addEventListener('webglcontextlost', (event) => {
      event.preventDefault() // otherwise the browser never gives it back
      this.isLost = true
      this.onLost()
    })
    this.canvas.addEventListener('webglcontextrestored', () => this.#restore())
  }

  open() {
    this.#opening ??= this.#open()
    return this.#opening
  }

  async #open() {
    const { open } = await import('texsolve')
    const ts = this.#library = await open(this.gl ? { gl: this.gl } : { backend: 'cpu' })
    if (ts.info.backend !== 'gl') {
      const reason = (ts.info.reason || 'this browser has no WebGL 2').replace(/^WebAssembly: /, '').replace(/\.$/, '')
      this.#messages.say(`The solvers run on WebAssembly: ${reason}.`, 'warning')
    }
    return ts
  }

  /** Bytes of the module's memory and of the library's textures. */
  memory() {
    const info = this.#library?.info
    return info ? { module: info.bytesMemory, device: info.bytesDevice } : {}
  }

  async #restore() {
    try {
      if (this.#opening) await (await this.#opening).restore(this.gl)
    } catch {
      this.#opening = null // the old library cannot continue: a new one
    }
    this.isLost = false
    this.quality.reset()
    try {
      await this.open()
      await this.onRestored()
    } catch (error) {
      this.#messages.fail(error)
    }
  }
}
