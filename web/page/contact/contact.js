// Contact: bodies that fall, lean, slide and are thrown. The forces between them are the solution of the library's
// problem with Coulomb's friction, which starts from the forces of the last step.

import { chart } from '../chart.js'
import { button, choice, element, group, readout, save, slider, stage, toggle } from '../controls.js'
import { contextRows } from '../device.js'
import { freeOf, watchSheet } from '../free.js'
import { Remote } from '../remote.js'
import { Picture } from './draw.js'
import { SCENES } from './scenes.js'
import { STEP } from './world.js'

const MOST_STEPS = 2 // in a frame
const SHOW_EVERY = 150 // ms
const REACH = { mouse: 6, pen: 10, touch: 22 } // CSS pixels around a body that take it

const ms = (x) => `${x < 10 ? x.toFixed(1) : Math.round(x)} ms`

// Whether WebGL is emulated by the processor.
function isSoftware(gl) {
  const [[, name]] = contextRows(gl)
  return !gl || /llvmpipe|softpipe|swiftshader|software|basic render/i.test(name)
}

export async function start(host) {
  return new ContactPart(host)
}

class ContactPart {
  name = 'pile'
  isPaused = false
  parameters = { friction: 0.5, tolerance: 1e-4, isWarm: true }
  pointers = new Map()
  state = null
  #isWaiting = false
  #time = 0 // seconds that the simulation is behind
  #scene = 0 // counts scenes, so that answers of an older one are dropped
  #shown = 0 // when figures were shown
  #mean = {} // of figures, smoothed over time

  constructor(host) {
    this.host = host
    this.picture = new Picture(host.theme, isSoftware(host.gl))
    this.remote = new Remote(new URL('worker.js', import.meta.url), { signal: host.signal })
    this.layout()
    this.listen()
    this.keys()
    watchSheet(host, () => this.resize())
    this.setScene('pile')
    host.frames((seconds) => this.frame(seconds))
  }

  // ---- Controls ----

  layout() {
    const { view, panel, bar } = stage(this.host)
    this.view = view
    this.hint = element(
      'div',
      { class: 'hint fades' },
      element('strong', {}, 'Contact'),
      element('p', {}, 'Drag a body and let go to throw it. Press on empty space for a heavy ball.')
    )
    view.append(this.picture.canvas, this.hint)
    this.pauseButton = button({ icon: 'pause', title: 'Pause (Space)', onClick: () => this.pause(!this.isPaused) })
    bar.append(
      this.pauseButton,
      button({ icon: 'step', title: 'One step (.)', onClick: () => this.single() }),
      button({ icon: 'reset', title: 'Reset (R)', onClick: () => this.setScene(this.name) }),
      element('span', { class: 'separator wide-only' }),
      ...Object.entries(SCENES).map(([name, { label }]) =>
        button({ label, kind: 'wide-only', onClick: () => this.setScene(name) })
      ),
      button({ icon: 'sparkle', label: 'Ball', title: 'Drop a ball (B)', onClick: () => this.drop() })
    )
    panel.append(this.sceneGroup(), this.solveGroup(), this.viewGroup())
  }

  sceneGroup() {
    this.scenes = choice({
      options: Object.entries(SCENES).map(([name, { label }]) => [name, label]),
      value: this.name,
      onChange: (name) => this.setScene(name)
    })
    this.count = slider({ label: 'Bodies', min: 20, max: 700, step: 1, value: 180, format: (n) => String(Math.round(n)) })
    this.count
      .querySelector('input')
      .addEventListener('change', () => this.setScene(this.name, Math.round(this.count.value)))
    this.friction = slider({
      label: 'Friction',
      title: 'Coulomb’s coefficient',
      min: 0,
      max: 1,
      value: 0.5,
      format: (x) => x.toFixed(2),
      onChange: (x) => {
        this.parameters.friction = x
      }
    })
    return group('Scene', this.scenes, this.count, this.friction)
  }

  solveGroup() {
    this.tolerance = slider({
      label: 'Tolerance',
      title: 'The residual at which a solve ends',
      min: 1e-8,
      max: 1e-2,
      log: true,
      value: 1e-4,
      format: (x) => x.toExponential(0),
      onChange: (x) => {
        this.parameters.tolerance = x
      }
    })
    this.warm = toggle({
      label: 'Warm start',
      title: 'Start from the forces of the last step',
      value: true,
      onChange: (on) => {
        this.parameters.isWarm = on
      }
    })
    this.chart = chart({ series: [{ name: 'residual', colour: '--accent' }], length: 90, label: 'Residual of each step' })
    this.residualOutput = readout({ label: 'Residual', title: 'Of the natural map, relative to ||q||' })
    this.sweepsOutput = readout({ label: 'Sweeps' })
    this.contactsOutput = readout({ label: 'Bodies, contacts' })
    this.solveOutput = readout({ label: 'Solve' })
    this.stepOutput = readout({ label: 'Step', title: 'Collision, assembly, solve, motion' })
    return group(
      'Solve',
      this.tolerance,
      this.warm,
      this.chart,
      this.residualOutput,
      this.sweepsOutput,
      this.contactsOutput,
      this.solveOutput,
      this.stepOutput
    )
  }

  viewGroup() {
    return group(
      'View',
      toggle({
        label: 'Forces',
        value: true,
        onChange: (on) => {
          this.picture.showsForces = on
        }
      }),
      button({ icon: 'picture', label: 'Save a picture', onClick: () => this.savePicture() })
    )
  }

  keys() {
    const { host } = this
    host.key(' ', 'pause', () => this.pause(!this.isPaused))
    host.key('.', 'one step', () => this.single())
    host.key('r', 'reset', () => this.setScene(this.name))
    host.key('b', 'drop a ball', () => this.drop())
    host.key('f', 'forces', () => this.view.parentElement.querySelector('.group:last-of-type .toggle input').click())
    host.key('n', 'the next scene', () => {
      const names = Object.keys(SCENES)
      this.setScene(names[(names.indexOf(this.name) + 1) % names.length])
    })
  }

  // ---- Pointers ----

  listen() {
    const { canvas } = this.picture,
      { signal } = this.host
    const place = (event) => {
      const box = canvas.getBoundingClientRect(),
        { x, y, unit } = this.picture.worldAt(event.clientX - box.left, event.clientY - box.top)
      return { id: event.pointerId, x, y: Math.max(y, 0.02), reach: unit * (REACH[event.pointerType] ?? 10) }
    }
    const on = (name, action) => canvas.addEventListener(name, action, { signal, passive: false })
    on('pointerdown', (event) => {
      if (event.button !== 0) return
      canvas.setPointerCapture(event.pointerId)
      this.pointers.set(event.pointerId, place(event))
      this.hint.hidden = true
      if (this.isPaused) this.pause(false)
    })
    on('pointermove', (event) => {
      const pointer = this.pointers.get(event.pointerId)
      if (pointer && !pointer.isReleased) Object.assign(pointer, place(event))
    })
    for (const name of ['pointerup', 'pointercancel']) on(name, (event) => this.release(event.pointerId))
    on('wheel', (event) => {
      event.preventDefault()
      this.picture.zoom = Math.min(8, Math.max(0.3, this.picture.zoom * Math.exp(-0.0012 * event.deltaY)))
    })
  }

  // A short press must last a step, so that the worker sees it.
  release(id) {
    const pointer = this.pointers.get(id)
    if (!pointer) return
    if (pointer.isSeen) this.pointers.delete(id)
    else pointer.isReleased = true
  }

  // By keyboard: a ball above the scene, held for a step.
  drop() {
    const box = this.view.getBoundingClientRect(),
      { x, y } = this.picture.worldAt(box.width * (0.25 + 0.3 * Math.random()), box.height * 0.12)
    this.pointers.set('key', { id: -1, x, y, reach: 0, isReleased: true })
    if (this.isPaused) this.pause(false)
  }

  // ---- Simulation ----

  async setScene(name, count = undefined) {
    const number = ++this.#scene,
      scene = SCENES[name]
    const isNew = name !== this.name || !this.state
    this.name = name
    this.scenes.set(name)
    if (isNew) {
      const range = this.count.querySelector('input')
      Object.assign(range, { min: scene.least, max: scene.most, step: 1 })
      this.count.set(scene.count)
    }
    this.picture.palette = name === 'wall' || name === 'arch' ? 'stones' : 'hues'
    try {
      const found = await this.remote.call('scene', { name, count: count ?? Math.round(this.count.value) })
      if (number !== this.#scene) return
      this.picture.setView(found.view)
      this.parameters.friction = found.friction
      this.friction.set(found.friction)
      this.#time = 0
      this.#mean = {}
      this.state = null
      this.#isWaiting = false
      this.chart.set([[]])
      await this.advance(0)
    } catch (error) {
      this.host.fail(error)
    }
  }

  pause(on) {
    this.isPaused = on
    this.pauseButton.setIcon(on ? 'play' : 'pause')
    this.pauseButton.title = on ? 'Continue (Space)' : 'Pause (Space)'
  }

  single() {
    this.pause(true)
    this.advance(1)
  }

  frame(seconds) {
    if (this.state) this.picture.draw(this.state, [...this.pointers.values()])
    if (this.isPaused || !this.state) return
    this.#time = Math.min(this.#time + seconds, MOST_STEPS * STEP * 1.2)
    if (this.#isWaiting) return
    const steps = Math.min(MOST_STEPS, Math.floor(this.#time / STEP + 0.05))
    if (!steps) return
    this.#time -= steps * STEP
    this.advance(steps)
  }

  async advance(steps) {
    if (this.#isWaiting) return
    this.#isWaiting = true
    const number = this.#scene,
      pointers = [...this.pointers.values()]
    try {
      const state = await this.remote.call('step', {
        steps,
        pointers: pointers.map(({ id, x, y, reach }) => ({ id, x, y, reach })),
        parameters: this.parameters
      })
      if (number !== this.#scene) return
      this.seen(pointers)
      if (state.shapes) this.picture.setShapes(state.shapes)
      this.state = state
      for (const figures of state.figures) this.report(figures, state.bodies)
    } catch (error) {
      if (number !== this.#scene || this.host.signal.aborted) return
      this.pause(true)
      this.host.fail(error)
    } finally {
      if (number === this.#scene) this.#isWaiting = false
    }
  }

  seen(pointers) {
    for (const pointer of pointers)
      for (const [key, now] of this.pointers)
        if (now.id === pointer.id) {
          now.isSeen = true
          if (now.isReleased) this.pointers.delete(key)
        }
  }

  report({ residual, sweeps, contacts, solve, step, converged }, bodies) {
    const mean = this.#mean
    for (const [name, value] of Object.entries({ residual, sweeps, contacts, solve, step }))
      mean[name] = mean[name] === undefined ? value : mean[name] + 0.1 * (value - mean[name])
    if (performance.now() - this.#shown < SHOW_EVERY) return
    this.#shown = performance.now()
    this.chart.push([residual])
    this.residualOutput.set(`${residual.toExponential(1)}${converged ? '' : ', limit of sweeps'}`)
    this.sweepsOutput.set(String(Math.round(mean.sweeps)))
    this.contactsOutput.set(`${bodies}, ${contacts}`)
    this.solveOutput.set(ms(mean.solve))
    this.stepOutput.set(ms(mean.step))
  }

  savePicture() {
    if (this.state) this.picture.draw(this.state, [])
    this.picture.canvas.toBlob((blob) => save(`contact-${this.name}.png`, blob))
  }

  // ---- The shell's side ----

  resize() {
    const box = this.view.getBoundingClientRect()
    this.picture.resize(box.width, box.height, freeOf(this.host, box))
    if (this.state) this.picture.draw(this.state, [])
  }

  theme(name) {
    this.picture.theme = name
    this.chart.redraw()
  }

  restored() {} // it draws without WebGL

  /** For measurements. */
  memory() {
    return this.remote.call('memory')
  }

  stop() {
    this.remote.stop()
  }
}
