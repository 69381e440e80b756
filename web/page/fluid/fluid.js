// The part "fluid": a flow to stir. The library advances the velocity (its multigrid keeps it free of divergence); this
// module draws dye that the library's velocity texture carries.

import { stage, group, slider, select, choice, toggle, button, readout, element, save } from '../controls.js'
import { chart } from '../chart.js'
import { Display, fields } from './display.js'
import { Simulation, scenes, TIME_STEP } from './simulation.js'
import { Pointers } from './pointers.js'
import { Walls } from './walls.js'
import { Compare } from './compare.js'
import { begin, drive, stir } from './scenes.js'
import { drifting } from './colours.js'
import { startPlain } from './plain.js'

const MAX_STEPS = 2 // in a frame: a slow device shows slow motion instead of falling behind
const COMPARE_SECONDS = 3 // between comparisons, at least; on a slow device a comparison takes a tenth of the time
const WALL_SECONDS = 0.12 // between changes of the walls while one draws
const SLOW_MS = 1000 / 45 // longer frames wait for the GPU before a task that needs its answer: several may be queued
const MOST_SKIPPED = 30 // frames
const PROMPT_FENCES = 6 // in a row, a frame each

export async function start(host) {
  const { gl, canvas } = host
  const layout = stage(host)
  const display = gl && new Display(gl, canvas)
  const ts = await host.open()
  if (!display?.painter.drawsHalfFloats || ts.info.backend !== 'gl') return startPlain(host, layout, ts)
  layout.view.append(canvas)
  return new FluidPart(host, layout, display, ts).part
}

class FluidPart {
  paused = false
  brush = 0.05
  force = 1
  #pending = 0 // seconds that the simulation has not reached
  #time = 0
  #touched = -60 // when a person last touched the fluid
  #compareAt = 1.5
  #comparison = null // while one runs
  #comparisonMs = 0 // of the main thread
  #wallsAt = 0 // when the library may get walls again
  #isMaskOld = false // the library has not got the present walls
  #fence = null // after what the GPU was asked for, while frames wait for it
  #skipped = 0 // frames
  #prompt = 0 // fences in a row that signalled by the next frame
  #isRunning = true // the last frame did not wait for the GPU

  constructor(host, layout, display, ts) {
    Object.assign(this, { host, layout, display })
    this.simulation = new Simulation(ts, display)
    display.fade = scenes.ink.fade
    this.walls = new Walls()
    this.compare = new Compare(host.gl, this.simulation)
    this.part = {
      resize: (width, height) => this.resize(width, height),
      stop: () => this.stop(),
      theme: () => this.theme(),
      restored: () => this.restored(),
      state: this // for tests
    }
    this.theme()
    const box = layout.view.getBoundingClientRect()
    this.resize(box.width, box.height)
    this.pointers = new Pointers(layout.view, host.signal, (x, y) => this.toDomain(x, y), {
      begin: () => this.touch(),
      push: (pointer) => this.push(pointer),
      wall: (from, to, erase) => this.drawWall(from, to, erase)
    })
    this.buttons()
    this.panel()
    begin('ink', this)
    host.quality.onChange = () => this.resize(this.width, this.height)
    host.frames((seconds) => this.frame(seconds))
  }

  theme() {
    this.display.light = this.host.theme === 'light'
    this.display.paper = this.display.light ? [0.965, 0.961, 0.945] : [0.022, 0.027, 0.042]
    this.chart?.redraw()
  }

  resize(width, height) {
    if (!width || !height) return
    Object.assign(this, { width, height })
    this.#comparison = null
    const { level } = this.host.quality
    this.display.resize(width, height, level)
    this.walls.resize(width / height)
    if (this.simulation.resize(width / height, level) && !this.walls.isEmpty) this.walls.changed = true
    this.display.read(this.simulation)
    if (this.paused) this.draw()
  }

  toDomain(x, y) {
    const box = this.layout.view.getBoundingClientRect()
    const [width, height] = this.simulation.domain
    return [(x - box.left) / box.width * width, (1 - (y - box.top) / box.height) * height]
  }

  touch() {
    this.#touched = this.#time
    this.walls.remember()
  }

  push(pointer) {
    this.#touched = this.#time
    const size = Math.min(...this.simulation.domain)
    const velocity = pointer.at.map((part, k) => (part - pointer.from[k]) / TIME_STEP * 0.5 * this.force)
    const speed = Math.hypot(...velocity), limit = Math.min(1, 4 / Math.max(speed, 1e-9))
    if (speed > 0) {
      this.simulation.push(pointer.from, pointer.at, this.brush * size, velocity.map((part) => part * limit))
    }
    const strength = pointer.pressed ? 0.35 : speed > 0 ? 0.16 : 0.012
    pointer.pressed = false
    if (this.simulation.scene !== 'marble')
      this.display.stroke(pointer.from, pointer.at, drifting(this.#time, pointer.phase, strength), 0.9 * this.brush * size)
  }

  drawWall(from, to, erase) {
    const domain = this.simulation.domain
    const unit = (point) => point.map((part, k) => part / domain[k])
    this.walls.stroke(unit(from), unit(to), 0.7 * this.brush * Math.min(1, domain[0] / domain[1]), erase)
    this.#touched = this.#time
  }

  // The picture shows a stroke at once. The library builds its matrices again when walls change, and waits for the device:
  // not in each frame of a stroke, and on a slow device a tenth of the time at most. Returns whether the library got walls.
  updateWalls(isAsking) {
    if (this.walls.changed) {
      this.walls.changed = false
      this.#isMaskOld = true
      this.display.setWalls(this.walls)
    }
    if (!isAsking || !this.areWallsDue) return false
    this.#isMaskOld = false
    const start = performance.now()
    this.simulation.setWalls(this.walls)
    this.#wallsAt = this.#time + Math.max(WALL_SECONDS, (performance.now() - start) / 100)
    return true
  }

  frame(seconds) {
    const isAsking = this.areWallsDue || this.isMeasureDue // what becomes due in this frame has not waited
    if (!isAsking) this.#isRunning = true
    else if (this.isBehind()) return false
    this.#time += seconds
    this.pointers.frame()
    const hasAsked = this.updateWalls(isAsking)
    if (isAsking && !hasAsked && this.isMeasureDue) this.measure()
    this.#pending = this.paused ? 0 : Math.min(this.#pending + seconds, MAX_STEPS * TIME_STEP)
    while (this.#pending >= 0.75 * TIME_STEP) {
      this.step()
      this.#pending -= TIME_STEP
    }
    this.draw()
  }

  get areWallsDue() { return (this.walls.changed || this.#isMaskOld) && this.#time >= this.#wallsAt }
  get isMeasureDue() {
    return !this.paused && this.pointers.active.size === 0 && (!!this.#comparison || this.#time >= this.#compareAt)
      && this.isComparing
  }

  // Whether a slow GPU has frames to draw. A task that needs its answer would block the page until they are drawn, so frames
  // are left out instead. A fence signals when the canvas is drawn. The browser draws its page with the canvas later, also on
  // the GPU: after frames that did not wait there are several to draw, so fences must signal promptly for a while.
  isBehind() {
    const { gl, quality } = this.host
    if (!this.#fence) {
      if (quality.lastMedian <= SLOW_MS) return false
      this.#skipped = this.#prompt = 0
    } else {
      const isSignalled = gl.getSyncParameter(this.#fence, gl.SYNC_STATUS) === gl.SIGNALED
      this.#prompt = isSignalled ? this.#prompt + 1 : 0
      const isOver = this.#prompt >= (this.#isRunning ? PROMPT_FENCES : 1) || this.#skipped >= MOST_SKIPPED
      if (isOver || isSignalled) {
        gl.deleteSync(this.#fence)
        this.#fence = null
      }
      if (isOver) {
        this.#isRunning = false
        return false
      }
    }
    if (!this.#fence) {
      this.#fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0)
      gl.flush()
    }
    this.#skipped++
    return true
  }

  step() {
    drive(this.simulation.scene, this.#time, this.#time - this.#touched, this)
    this.simulation.step()
    this.display.read(this.simulation)
    this.display.advance(TIME_STEP)
  }

  draw() {
    this.display.painter.begin()
    this.display.show()
  }

  get isComparing() {
    const { panel } = this.layout
    return this.compareGroup.open && panel.offsetHeight > 0 && getComputedStyle(panel).visibility !== 'hidden'
  }

  // One piece of the comparison.
  measure() {
    if (!this.#comparison) {
      this.#comparison = this.compare.run()
      this.#comparisonMs = 0
    }
    try {
      const start = performance.now()
      const { done, value } = this.#comparison.next()
      this.#comparisonMs += performance.now() - start
      if (!done) return
      this.showComparison(...value)
    } catch (error) {
      this.host.fail(error)
      this.compareGroup.open = false
    }
    this.#comparison = null
    this.#compareAt = this.#time + Math.max(COMPARE_SECONDS, this.#comparisonMs / 100)
  }

  showComparison(multigrid, jacobi) {
    this.chart.push([multigrid.left, jacobi.left])
    const percent = (part) => (part < 0.001 ? (100 * part).toExponential(0) : (100 * part).toPrecision(2)) + ' %'
    this.readouts.jacobi.firstChild.textContent = `${jacobi.iterations} Jacobi`
    this.readouts.multigrid.set(`${percent(multigrid.left)} in ${multigrid.milliseconds.toFixed(1)} ms`)
    this.readouts.jacobi.set(`${percent(jacobi.left)} in ${jacobi.milliseconds.toFixed(1)} ms`)
    this.readouts.ratio.set(`${Math.round(jacobi.left / multigrid.left).toLocaleString('en')} times less`)
  }

  restart(scene = this.simulation.scene) {
    this.#comparison = null
    if (scene !== this.simulation.scene) this.walls.clear()
    this.simulation.start(scene)
    this.display.fade = scenes[scene].fade
    this.sliders.curls.set(scenes[scene].curls)
    this.sliders.fade.set(scenes[scene].fade)
    this.display.clearDye()
    this.display.read(this.simulation)
    begin(scene, this)
    this.walls.changed = true
    this.#wallsAt = 0
    this.#touched = this.#time
  }

  setPaused(paused) {
    this.paused = paused
    this.pauseButton.set(paused)
    this.pauseButton.setIcon(paused ? 'play' : 'pause')
  }

  setTool(tool) {
    this.pointers.tool = tool
    for (const [name, made] of Object.entries(this.tools)) made.set(name === tool)
  }

  savePicture() {
    this.draw() // in this task: the browser clears the canvas after it
    this.host.canvas.toBlob((blob) => save('fluid.png', blob), 'image/png')
  }

  buttons() {
    const { host } = this
    const act = (key, label, name, action, pressed) => {
      host.key(key, label, () => action())
      return button({ icon: name, title: `${label} (${key === ' ' ? 'Space' : key.toUpperCase()})`, pressed, onClick: () => action() })
    }
    this.pauseButton = act(' ', 'Pause or run', 'pause', () => this.setPaused(!this.paused), false)
    this.tools = {
      push: act('p', 'Push the fluid', 'hand', () => this.setTool('push'), true),
      wall: act('w', 'Draw walls', 'pen', () => this.setTool('wall'), false),
      erase: act('e', 'Erase walls', 'eraser', () => this.setTool('erase'), false)
    }
    const separator = () => element('span', { class: 'separator' })
    this.layout.bar.append(this.tools.push, this.tools.wall, this.tools.erase, separator(), this.pauseButton,
      act('s', 'One step', 'step', () => {
        this.setPaused(true)
        this.step()
      }),
      act('r', 'Restart', 'reset', () => this.restart()),
      act('x', 'Splash', 'sparkle', () => (this.simulation.scene === 'marble' ? stir(this.simulation) : begin('ink', this))),
      act('z', 'Undo walls', 'undo', () => this.walls.undo()),
      act('c', 'Clear walls', 'trash', () => {
        this.walls.remember()
        this.walls.clear()
      }),
      act('g', 'Save a picture', 'picture', () => this.savePicture()))
  }

  panel() {
    const { display, simulation, host } = this
    const set = (object, name) => (value) => { object[name] = value }
    const show = (name) => (value) => { this.display[name] = value } // the display is another one after a lost context
    this.chart = chart({ series: [{ colour: '--second' }, { colour: '--accent' }], length: 30,
      label: 'Divergence left by multigrid and by Jacobi iterations' })
    this.readouts = {
      multigrid: readout({ label: 'Multigrid', title: 'V-cycles of the library, from zero pressure' }),
      jacobi: readout({ label: '20 Jacobi', title: 'Jacobi iterations, as in most fluid demos, from zero pressure' }),
      ratio: readout({ label: 'Multigrid leaves' })
    }
    this.readouts.multigrid.classList.add('second')
    this.readouts.jacobi.classList.add('first')
    this.compareGroup = group('Divergence that the solver leaves', this.chart, ...Object.values(this.readouts),
      element('p', { class: 'dim small' }, 'Both make the same step of a copy of this flow, from zero pressure. Jacobi gets 20 iterations, '
        + 'or more to take as long. Milliseconds are for the whole step.'))
    this.sliders = {
      curls: slider({ label: 'Curls', min: 0, max: 1, step: 0.01, value: simulation.vorticity, title: 'Vorticity confinement',
        onChange: (vorticity) => simulation.set({ vorticity }) }),
      fade: slider({ label: 'Dye fades', min: 0, max: 2, step: 0.01, value: display.fade, format: (x) => `${x.toFixed(2)} /s`,
        onChange: show('fade') })
    }
    this.layout.panel.append(
      group('Flow',
        choice({ label: '', value: 'ink', options: Object.entries(scenes).map(([name, { label }]) => [name, label]),
          onChange: (scene) => this.restart(scene) }),
        this.sliders.curls,
        slider({ label: 'V-cycles per step', min: 1, max: 4, step: 1, value: simulation.cycles,
          onChange: (cycles) => simulation.set({ cycles }) })),
      this.compareGroup,
      group('Brush',
        slider({ label: 'Size', min: 0.015, max: 0.15, value: this.brush, format: (x) => `${(100 * x).toFixed(1)} %`,
          onChange: set(this, 'brush') }),
        slider({ label: 'Force', min: 0.1, max: 3, step: 0.1, value: this.force, onChange: set(this, 'force') })),
      group('Picture',
        select({ label: 'Show', options: fields.map((name, i) => [String(i), name]), value: '0',
          onChange: (value) => { this.display.field = Number(value) } }),
        slider({ label: 'Shading', min: 0, max: 0.4, step: 0.01, value: display.shading, onChange: show('shading') }),
        slider({ label: 'Glow', min: 0, max: 1.5, step: 0.05, value: display.glow, onChange: show('glow') }),
        this.sliders.fade,
        select({ label: 'Quality', value: String(host.quality.mode),
          options: [['auto', 'follows the frame'], ['0', 'fastest'], ['1', 'low'], ['2', 'middle'], ['3', 'high'], ['4', 'best']],
          onChange: (value) => host.quality.set(value === 'auto' ? 'auto' : Number(value)) })))
  }

  /** After a lost context: the walls, the scene and the settings are still there, the flow starts again. */
  restored() {
    const { host } = this
    this.compare.dispose(true)
    this.#fence = null
    this.display = this.simulation.display = new Display(host.gl, host.canvas, this.display)
    host.wasLost = false
    this.resize(this.width, this.height)
    this.restart()
  }

  stop() {
    const { wasLost } = this.host
    this.host.quality.onChange = () => {}
    if (this.host.gl.isContextLost()) return
    this.compare.dispose(wasLost)
    this.simulation.dispose()
    if (!wasLost) this.display.dispose()
  }
}
