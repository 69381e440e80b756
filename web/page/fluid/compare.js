// How much divergence two pressure solvers leave in the flow that is on the screen. Two fluids of the same size take a copy
// of its velocity and make the same step, from zero pressure: one by cycles of multigrid, one by Jacobi iterations. There
// are at least 20 iterations, and more if they are needed to take as long as the cycles.

import { TIME_STEP } from './simulation.js'

const TIMED_STEPS = 4
const LEAST = 20, MOST = 200 // Jacobi iterations

export class Compare {
  #probes = []
  #framebuffers = []
  iterations = LEAST

  constructor(gl, simulation) {
    this.gl = gl
    this.simulation = simulation
  }

  /** Measures both, a piece in each next(), so that no frame is long. At last returns [{ left, before, after,
   * milliseconds, iterations }, ...] for multigrid and Jacobi: `left` is after / before, divergences in 1/s as root mean
   * squares, `milliseconds` the time of a step: the shortest of a few, taken in turn. */
  * run() {
    const { fluid, cycles } = this.simulation
    yield* this.#prepare(fluid, cycles)
    const iterations = [cycles, this.iterations]
    const results = []
    for (const [i, probe] of this.#probes.entries()) {
      yield
      this.#take(fluid, probe)
      const { before, after } = probe.step(TIME_STEP, undefined, { measure: true })
      results.push({ before, after, left: after / before, milliseconds: Infinity, iterations: iterations[i] })
    }
    for (let k = 0; k < TIMED_STEPS; k++)
      for (const [i, probe] of this.#probes.entries()) {
        yield
        results[i].milliseconds = Math.min(results[i].milliseconds, this.#time(probe))
      }
    this.#balance(...results)
    return results
  }

  // Makes both probes, each in a piece. A run that is given up leaves fewer.
  * #prepare(fluid, cycles) {
    const { gl, simulation } = this
    const [first, second] = this.#probes
    if (second && first.width === fluid.width && first.height === fluid.height && this.cycles === cycles
      && this.scene === simulation.scene && this.mask === simulation.mask) return
    this.dispose()
    Object.assign(this, { cycles, scene: simulation.scene, mask: simulation.mask })
    this.#framebuffers = [gl.createFramebuffer(), gl.createFramebuffer()]
    for (const pressure of [{ iterations: cycles }, this.#jacobi()]) {
      if (this.#probes.length) yield
      this.#probes.push(simulation.make(fluid.width, fluid.height, pressure, this.mask))
    }
  }

  // Gives Jacobi the time of the cycles. Half of the step in the logarithm, because times scatter.
  #balance(multigrid, jacobi) {
    const wanted = Math.sqrt(multigrid.milliseconds / jacobi.milliseconds) * this.iterations
    const iterations = Math.round(Math.min(MOST, Math.max(LEAST, wanted)))
    if (iterations === this.iterations) return
    this.iterations = iterations
    this.#probes[1].setParameters({ pressure: this.#jacobi() })
  }

  #jacobi() {
    return { method: 'richardson', preconditioner: 'jacobi', iterations: this.iterations }
  }

  // Copies the velocity, texel by texel, and stirs it: the same push for both.
  #take(fluid, probe) {
    const { gl } = this
    probe.reset() // also the pressure, where the solver starts
    const from = fluid.textures.velocity, to = probe.textures.velocity
    ;[[gl.READ_FRAMEBUFFER, from], [gl.DRAW_FRAMEBUFFER, to]].forEach(([kind, texture], i) => {
      gl.bindFramebuffer(kind, this.#framebuffers[i])
      gl.framebufferTexture2D(kind, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture.texture, 0)
    })
    gl.disable(gl.SCISSOR_TEST)
    gl.blitFramebuffer(from.x, from.y, from.x + from.width, from.y + from.height,
      to.x, to.y, to.x + to.width, to.y + to.height, gl.COLOR_BUFFER_BIT, gl.NEAREST)
    gl.bindFramebuffer(gl.FRAMEBUFFER, null)
    const [width, height] = this.simulation.domain
    probe.splat({ x: width / 2, y: height / 2, radius: height / 10, velocity: [0.5, 0.25] })
  }

  // ms of a step, after the queue is empty. A read-back is the only wait that WebGL has within a task.
  #time(probe) {
    this.#wait(probe)
    const start = performance.now()
    probe.step(TIME_STEP)
    this.#wait(probe)
    return performance.now() - start
  }

  #wait(probe) {
    const { gl } = this
    const { texture, x, y } = probe.textures.velocity
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.#framebuffers[0])
    gl.framebufferTexture2D(gl.READ_FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0)
    gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null)
    gl.readPixels(x, y, 1, 1, gl.RGBA, gl.FLOAT, new Float32Array(4))
    gl.bindFramebuffer(gl.FRAMEBUFFER, null)
  }

  /** wasLost: the context was lost since, and its objects are gone. */
  dispose(wasLost = false) {
    this.#probes.forEach((probe) => probe.dispose())
    if (!wasLost) this.#framebuffers.forEach((framebuffer) => this.gl.deleteFramebuffer(framebuffer))
    this.#probes = []
    this.#framebuffers = []
  }
}
