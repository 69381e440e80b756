// The fluid's picture: dye at screen resolution carried by the library's velocity texture, bloom, shading, walls.

import { Painter } from '../painter.js'
import * as shaders from './shaders.js'

const BLOOM_LEVELS = 6
const MAX_STROKES = 16 // as in shaders.js
export const fields = ['dye', 'speed', 'pressure', 'vorticity']
const scales = [1, 0.9, 3, 0.06] // of the fields' colours

// Levels of quality: dye rows, pixels of the canvas for a CSS pixel at most, sharp dye.
const levels = [
  { rows: 256, ratio: 0.5, sharp: false },
  { rows: 384, ratio: 0.75, sharp: false },
  { rows: 640, ratio: 1.5, sharp: true },
  { rows: 900, ratio: 2, sharp: true },
  { rows: 1440, ratio: 3, sharp: true }
]

export class Display {
  field = 0
  shading = 0.12
  glow = 0.55
  fade = 0.35 // 1/s
  paper = [0.043, 0.051, 0.071]
  light = false
  #dye
  #dyeBack
  #centres
  #bloom = []
  #strokes = []

  /** like: another display, for its settings. */
  constructor(gl, canvas, like = undefined) {
    this.gl = gl
    this.canvas = canvas
    this.painter = new Painter(gl)
    this.programs = Object.fromEntries(Object.entries(shaders).map(([name, body]) => [name, this.painter.program(body)]))
    this.walls = this.painter.texture(1, 1, gl.R8)
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 1, 1, gl.RED, gl.UNSIGNED_BYTE, new Uint8Array(1))
    if (like) for (const name of ['field', 'shading', 'glow', 'fade', 'paper', 'light']) this[name] = like[name]
  }

  /** Sizes the canvas and the dye for an element of width x height CSS pixels. The dye is kept, stretched. */
  resize(width, height, level) {
    const { gl, painter } = this
    const { rows, ratio, sharp } = levels[level]
    const pixels = Math.min(devicePixelRatio || 1, ratio)
    this.canvas.width = Math.max(1, Math.round(width * pixels))
    this.canvas.height = Math.max(1, Math.round(height * pixels))
    this.sharp = sharp
    const limit = Math.min(gl.getParameter(gl.MAX_TEXTURE_SIZE), 4096)
    const dyeHeight = Math.max(16, Math.min(rows, this.canvas.height))
    const dyeWidth = Math.max(16, Math.min(limit, Math.round(dyeHeight * width / height)))
    painter.begin()
    if (this.#dye?.width !== dyeWidth || this.#dye?.height !== dyeHeight) {
      const old = this.#dye
      this.#dye = painter.target(dyeWidth, dyeHeight, gl.RGBA16F)
      painter.free(this.#dyeBack)
      this.#dyeBack = painter.target(dyeWidth, dyeHeight, gl.RGBA16F)
      if (old) {
        painter.draw(this.programs.SHRINK, this.#dye, { source: old, texel: [0, 0] })
        painter.free(old)
      }
    }
    painter.free(...this.#bloom)
    const first = Math.min(256, dyeHeight >> 1)
    this.#bloom = Array.from({ length: BLOOM_LEVELS }, (_, i) => painter.target(
      Math.max(2, Math.round(first * width / height) >> i), Math.max(2, first >> i), gl.RGBA16F))
  }

  /** Takes the picture of the walls. */
  setWalls({ width, height, data }) {
    const { gl, painter } = this
    if (this.walls.width !== width || this.walls.height !== height) {
      painter.free(this.walls)
      this.walls = painter.texture(width, height, gl.R8)
    }
    gl.activeTexture(gl.TEXTURE0)
    gl.bindTexture(gl.TEXTURE_2D, this.walls.texture)
    gl.bindBuffer(gl.PIXEL_UNPACK_BUFFER, null)
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1)
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, height, gl.RED, gl.UNSIGNED_BYTE, data)
  }

  /** Adds dye along a line, in metres, at the next step. With a negative radius it fills up to the colour. */
  stroke(from, to, colour, radius) {
    this.#strokes.push([...from, ...to, ...colour, radius])
  }

  clearDye() {
    this.#strokes = []
    for (const target of [this.#dye, this.#dyeBack]) {
      this.gl.bindFramebuffer(this.gl.FRAMEBUFFER, target.framebuffer)
      this.gl.disable(this.gl.SCISSOR_TEST)
      this.gl.clearBufferfv(this.gl.COLOR, 0, [0, 0, 0, 0])
    }
  }

  /** Fills the picture with bands of dye. */
  fillBands() {
    this.painter.begin()
    this.painter.draw(this.programs.BANDS, this.#dye, { domain: this.domain, seed: Math.floor(5 * Math.random()) })
  }

  /** Reads the library's textures of a simulation: velocity and pressure at the centres of cells. */
  read({ fluid, cellSize, domain }) {
    const { painter } = this
    const { velocity, pressure } = fluid.textures
    painter.begin()
    if (this.#centres?.width !== fluid.width || this.#centres?.height !== fluid.height) {
      painter.free(this.#centres)
      this.#centres = painter.target(fluid.width, fluid.height, this.gl.RGBA16F)
    }
    this.domain = domain
    painter.draw(this.programs.CENTRES, this.#centres, { velocity, pressure, velocityOrigin: [velocity.x, velocity.y],
      pressureOrigin: [pressure.x, pressure.y], cells: [fluid.width, fluid.height], cellSize })
  }

  /** Writes the flow that was read last into the fluid of a simulation, at any resolution. */
  writeTo({ fluid, domain }) {
    const { gl, painter } = this
    if (!this.#centres) return
    const { texture, x, y, width, height } = fluid.textures.velocity
    const framebuffer = gl.createFramebuffer()
    gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer)
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0)
    painter.begin()
    painter.draw(this.programs.FACES, { framebuffer }, { centres: this.#centres, cells: [fluid.width, fluid.height],
      origin: [x, y], scale: [domain[0] / this.domain[0], 1] }, { box: [x, y, width, height] })
    gl.deleteFramebuffer(framebuffer)
  }

  /** Carries the dye through a time step and adds the strokes. */
  advance(seconds) {
    const { painter } = this
    const strokes = this.#strokes.splice(0, MAX_STROKES)
    const segments = new Float32Array(4 * MAX_STROKES), colours = new Float32Array(4 * MAX_STROKES)
    strokes.forEach((stroke, i) => {
      segments.set(stroke.slice(0, 4), 4 * i)
      colours.set(stroke.slice(4), 4 * i)
    })
    painter.draw(this.programs.ADVECT, this.#dyeBack, { dye: this.#dye, centres: this.#centres, walls: this.walls,
      domain: this.domain, texel: [1 / this.#dye.width, 1 / this.#dye.height], timeStep: seconds, sharp: this.sharp,
      keep: Math.exp(-this.fade * seconds), strokes: strokes.length, segments, colours })
    ;[this.#dye, this.#dyeBack] = [this.#dyeBack, this.#dye]
  }

  /** Draws the picture to the canvas. */
  show() {
    const { painter, programs } = this
    const texel = (target) => [1 / target.width, 1 / target.height]
    const [first, ...others] = this.#bloom
    painter.draw(programs.BRIGHT, first, { source: this.#dye, texel: texel(this.#dye), threshold: 0.35 })
    let last = first
    for (const target of others) {
      painter.draw(programs.SHRINK, target, { source: last, texel: texel(last).map((size) => size / 2) })
      last = target
    }
    for (const target of this.#bloom.slice(0, -1).reverse()) {
      painter.draw(programs.GROW, target, { source: last, texel: texel(last), weight: 0.8 }, { add: true })
      last = target
    }
    painter.draw(programs.PICTURE, null, { dye: this.#dye, bloom: first, walls: this.walls, centres: this.#centres,
      texel: texel(this.#dye), wallTexel: texel(this.walls), shading: this.shading, glow: this.glow * 0.5,
      field: this.field, scale: scales[this.field], light: this.light, paper: this.paper })
  }

  dispose() {
    this.painter.free(this.#dye, this.#dyeBack, this.#centres, this.walls, ...this.#bloom)
    this.painter.dispose()
  }
}
