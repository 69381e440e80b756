// The flow: a fluid of the library, its size, scenes, and splats.

export const TIME_STEP = 1 / 60

// Levels of quality: about this number of cells along the side of a square of the same area.
const sizes = [80, 112, 160, 224, 320]

const wall = { kind: 'wall' }
const box = { left: wall, right: wall, bottom: wall, top: wall }
/** `fade` of the dye in 1/s, `curls`: vorticity confinement in 1/s. */
export const scenes = {
  ink: { label: 'Ink', fade: 0.3, curls: 0.15, sides: box },
  marble: { label: 'Marble', fade: 0, curls: 0, sides: box },
  tunnel: {
    label: 'Tunnel', fade: 0.05, curls: 0, advection: 'maccormack', // keeps the vortices that the disc sheds
    sides: { left: { kind: 'wall', velocity: [0.8, 0] }, right: { kind: 'outlet' }, bottom: { kind: 'slip' }, top: { kind: 'slip' } }
  },
  jets: { label: 'Jets', fade: 0.12, curls: 0.3, sides: { left: wall, right: wall, bottom: wall, top: { kind: 'outlet' } } }
}

/** Width and height in cells: multiples of 16, which suit multigrid. */
export function cellsFor(aspect, size) {
  const side = (cells) => Math.max(32, Math.round(cells / 16) * 16)
  return [side(size * Math.sqrt(aspect)), side(size / Math.sqrt(aspect))]
}

const isSame = (a, b) => a === b || (!!a && !!b && a.every((value, i) => value === b[i]))

export class Simulation {
  scene = 'ink'
  vorticity = scenes.ink.curls
  cellSize = 0 // m
  cycles = 2
  fluid = null
  #mask = null

  constructor(ts, display) {
    this.ts = ts
    this.display = display
  }

  /** Makes the fluid for an aspect ratio, or a new one if the size changed: the flow is kept, resampled. Returns whether
   * it is a new one. */
  resize(aspect, level) {
    const [width, height] = cellsFor(aspect, sizes[level])
    const old = this.fluid
    if (old?.width === width && old?.height === height) return false
    if (old) this.display.read(this)
    this.cellSize = 1 / height
    this.fluid = this.make(width, height)
    this.#mask = null
    if (old) {
      this.display.writeTo(this)
      old.dispose()
    }
    return true
  }

  /** A fluid of the present scene. pressure: options of its solver; solid: its walls, or null. */
  make(width, height, pressure = { iterations: this.cycles }, solid = null) {
    const { sides, advection = 'semi-lagrangian' } = scenes[this.scene]
    return this.ts.fluid({ width, height, cellSize: this.cellSize, timeStep: TIME_STEP, vorticity: this.vorticity, pressure,
      advection, solid, ...sides })
  }

  /** Starts a scene with a new fluid at rest. */
  start(scene) {
    this.scene = scene
    this.vorticity = scenes[scene].curls
    const { width, height } = this.fluid
    this.fluid.dispose()
    this.fluid = this.make(width, height)
    this.#mask = null
  }

  get domain() {
    return [this.fluid.width * this.cellSize, this.fluid.height * this.cellSize]
  }

  set({ vorticity = this.vorticity, cycles = this.cycles }) {
    this.vorticity = vorticity
    this.cycles = cycles
    this.fluid.setParameters({ vorticity, pressure: { iterations: cycles } })
  }

  /** Solid cells: those whose centre is in the walls. */
  setWalls(walls) {
    const mask = this.#sample(walls)
    if (isSame(mask, this.#mask)) return
    this.#mask = mask
    this.fluid.setWalls(mask)
  }

  #sample(walls) {
    const { width, height } = this.fluid
    const mask = new Uint8Array(width * height)
    let solid = 0
    for (let j = 0; j < height; j++)
      for (let i = 0; i < width; i++)
        if (walls.at((i + 0.5) / width, (j + 0.5) / height) > 127) solid += mask[j * width + i] = 1
    return solid && solid < width * height ? mask : null
  }

  get mask() { return this.#mask }

  /** Pushes the fluid along a line in metres, with a velocity in m/s. */
  push(from, to, radius, velocity) {
    this.fluid.splat(...this.splatsAlong(from, to, radius, velocity))
  }

  splatsAlong(from, to, radius, velocity) {
    const length = Math.hypot(to[0] - from[0], to[1] - from[1])
    const count = Math.min(4, Math.max(1, Math.ceil(length / radius)))
    return Array.from({ length: count }, (_, i) => {
      const t = (i + 1) / count
      return { x: from[0] + t * (to[0] - from[0]), y: from[1] + t * (to[1] - from[1]), radius,
        velocity: velocity.map((part) => part / Math.sqrt(count)) }
    })
  }

  step() { this.fluid.step(TIME_STEP) }

  dispose() {
    this.fluid?.dispose()
    this.fluid = null
  }
}
