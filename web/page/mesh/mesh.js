// Smooth and unwrap: a mesh that is dropped on the page moves by mean-curvature flow, and becomes flat by a conformal map.

import { button, dialog, element, save } from '../controls.js'
import { freeOf, watchSheet } from '../free.js'
import { Remote } from '../remote.js'
import { Work } from '../work.js'
import { writeObj, writePly } from './formats/write.js'
import { History } from './history.js'
import { LONGEST, MeshControls } from './panel.js'

const FLOW_STEP = 0.25 // of the squared mean edge, in every frame of the flow

const whole = (x) => Math.round(x).toLocaleString('en')
const seconds = (s) => (s < 1 ? `${Math.max(1, Math.round(1000 * s))} ms` : `${s.toFixed(s < 10 ? 1 : 0)} s`)
const ratio = (x) => (x < 10 ? x.toFixed(3) : x < 1e5 ? x.toFixed(0) : 'collapsed')
const sizeOf = ({ positions, flat }) => positions.byteLength + (flat ? 16 * flat.origin.length : 0)

// A checker with about 20 squares across a map of a square's shape: more across narrower ones.
function squaresFor({ uv, triangles }) {
  let area = 0
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => 2 * triangles[t + k])
    area += Math.abs((uv[b] - uv[a]) * (uv[c + 1] - uv[a + 1]) - (uv[c] - uv[a]) * (uv[b + 1] - uv[a + 1])) / 2
  }
  return Math.min(200, Math.max(8, 20 / Math.sqrt(area || 1)))
}

export async function start(host) {
  return new MeshPart(host)
}

class MeshPart extends MeshControls {
  mesh = null // name, triangles, edge, centre, radius, isClosed
  state = null // positions, flat (or null), distortion
  history = new History(sizeOf)
  smoothing = null // the state before the slider moved
  isFlowing = false

  constructor(host) {
    super(host)
    this.remote = new Remote(new URL('worker.js', import.meta.url), {
      signal: host.signal,
      onRestart: () => {
        this.reloading = this.reload()
      }
    })
    this.work = new Work(host)
    watchSheet(host, () => this.resize())
    this.example('knot')
  }

  // ---- A mesh ----

  file(file) {
    this.examples.set(null)
    return this.take(`Reading ${file.name}`, 'load', { file })
  }

  example(name) {
    this.examples.set(name)
    return this.take('Making the example', 'example', { name })
  }

  async take(text, name, argument) {
    this.flow(false)
    await this.work.interrupt()
    const found = await this.work.run(text, ({ signal }) => this.call(name, argument, { signal }))
    if (!found) return
    this.source = { name, argument }
    const { positions, notes, drawn, ...mesh } = found
    this.mesh = mesh
    this.history.clear()
    this.smoothing = null
    this.amount.set(0)
    this.nameOutput.set(`${mesh.name}, ${mesh.isClosed ? 'closed' : 'open'}, ${seconds(mesh.seconds)}`)
    this.sizeOutput.set(`${whole(positions.length / 3)}, ${whole(mesh.triangles.length / 3)}`)
    this.notes.replaceChildren(...notes.map((note) => element('li', {}, note)))
    this.notes.hidden = !notes.length
    this.boundary.hidden = mesh.isClosed
    this.resetView()
    this.viewer.setMesh(drawn)
    this.show({ positions, flat: null, distortion: null })
  }

  // Calls the worker, after it has the mesh again if it was ended.
  async call(name, argument, options) {
    await this.reloading
    return this.remote.call(name, argument, options)
  }

  // The worker was ended and has lost the mesh: it reads the source again, and gets the current state.
  async reload() {
    if (!this.source || this.host.signal.aborted) return
    try {
      await this.remote.call(this.source.name, this.source.argument)
      if (this.state) await this.remote.call('restore', { positions: this.state.positions, flat: this.state.flat })
    } catch (error) {
      this.host.fail(error)
    }
  }

  // The worker takes a state, and the picture shows it.
  async restore({ positions, flat }) {
    const { drawn } = await this.call('restore', { positions, flat })
    this.viewer.setMesh(drawn)
  }

  show(state) {
    this.state = state
    if (state.distortion) this.viewer.setAngle(state.distortion.angle)
    this.mapControls.hidden = !state.flat
    if (state.flat) {
      this.chartsOutput.set(`${whole(state.flat.parts)}, ${whole(state.flat.seamEdges)}`)
      this.meanOutput.set(state.distortion ? ratio(state.distortion.mean) : '–')
      this.mostOutput.set(
        state.distortion
          ? ratio(state.distortion.most) + (state.distortion.flipped ? `, ${whole(state.distortion.flipped)} flipped` : '')
          : '–'
      )
    }
    this.undoButton.disabled = !this.history.length
    this.hint.hidden = !!state.flat
  }

  // ---- Smoothing ----

  // The slider moved: smooths the state from before. The newest place wins.
  async slide(t) {
    if (!this.state) return
    if (this.work.isBusy && !this.sliding) return
    this.flow(false)
    this.smoothing ??= this.state
    this.wanted = t
    if (this.sliding) return
    this.sliding = true
    await this.work.run('Smoothing', async ({ signal }) => {
      for (let done; done !== this.wanted;) {
        done = this.wanted
        await this.smoothTo(done, signal)
      }
    })
    this.sliding = false
    if (this.ended) this.slideEnd()
  }

  async smoothTo(t, signal) {
    const from = this.smoothing,
      timeStep = (LONGEST * t ** 1.5) ** 2 / 2 / 2
    if (t === 0) {
      await this.restore(from)
      return this.show(from)
    }
    const found = await this.call(
      'smooth',
      { positions: from.positions, timeStep, steps: 2, boundary: this.boundary.value },
      { signal }
    )
    this.smoothOutput.set(seconds(found.seconds))
    this.viewer.setPoints(found.moved)
    this.show({ positions: found.positions, flat: from.flat, distortion: null })
  }

  // The slider was let go: this is a state that undo takes back, and the slider starts again from it.
  async slideEnd() {
    this.ended = this.sliding
    if (this.sliding || !this.smoothing) return
    const before = this.smoothing
    this.smoothing = null
    this.amount.set(0)
    if (this.state.positions !== before.positions) this.remember(before)
    await this.measure()
  }

  remember(state) {
    this.history.push(state)
    this.undoButton.disabled = false
  }

  async measure() {
    const { state } = this
    if (!state?.flat || state.distortion) return
    const distortion = await this.call('measure', { positions: state.positions }).catch((error) => this.host.fail(error))
    if (distortion && this.state === state) this.show({ ...state, distortion })
  }

  // Smooths in every frame.
  async flow(on) {
    this.flowButton.set(on)
    this.flowButton.setIcon(on ? 'pause' : 'play')
    if (on === this.isFlowing || (on && (this.work.isBusy || !this.state))) {
      if (on && !this.isFlowing) this.flow(false)
      return
    }
    this.isFlowing = on
    if (!on) return
    const before = this.state,
      edge = this.mesh.edge
    await this.work.run('Flowing', async ({ signal }) => {
      while (this.isFlowing) {
        const found = await this.call(
          'smooth',
          { positions: this.state.positions, timeStep: FLOW_STEP * edge ** 2, steps: 1, boundary: this.boundary.value },
          { signal }
        )
        this.smoothOutput.set(seconds(found.seconds))
        this.viewer.setPoints(found.moved)
        this.show({ positions: found.positions, flat: before.flat, distortion: null })
        await new Promise(requestAnimationFrame)
      }
    })
    this.isFlowing = false
    this.flow(false)
    if (this.state.positions !== before.positions && !this.host.signal.aborted) {
      this.remember(before)
      await this.measure()
    }
  }

  // ---- Unwrapping ----

  async unwrap() {
    if (!this.state) return
    this.flow(false)
    const before = this.state
    const found = await this.work.run('Unwrapping', ({ signal, say }) =>
      this.call(
        'unwrap',
        { positions: before.positions },
        {
          signal,
          onProgress: ({ chart, charts, residual }) =>
            say(
              `Unwrapping${charts > 1 ? ` ${chart} of ${charts}` : ''}${residual > 0 ? `, residual ${residual.toExponential(1)}` : ''}`
            )
        }
      )
    )
    if (!found) return void (await this.restore(before).catch((error) => this.host.fail(error)))
    this.remember(before)
    const { cut, solve, all } = found.seconds
    this.solveOutput.set(`${seconds(solve)}${found.iterations > 1 ? `, ${whole(found.iterations)} iterations` : ''}`)
    this.cutOutput.set(seconds(cut))
    this.mapOutput.set(seconds(all))
    this.squares.set(squaresFor(found.flat))
    this.viewer.squares = this.squares.value
    if (!before.flat) {
      this.colours.set('checker')
      this.setColours('checker')
    }
    this.viewer.flatCamera.reset()
    this.viewer.setMesh(found.drawn)
    this.show({ positions: before.positions, flat: found.flat, distortion: found.distortion })
  }

  async undo() {
    if (this.work.isBusy) return this.work.stop()
    const state = this.history.pop()
    if (!state) return void this.host.say('Nothing to undo.', 'info', 'undo')
    this.smoothing = null
    this.amount.set(0)
    await this.work.run('Undoing', () => this.restore(state))
    this.show(state)
    await this.measure()
  }

  // ---- Saving ----

  // In the units of the file.
  outcome() {
    const { centre, radius, triangles } = this.mesh,
      { positions, flat } = this.state
    return { positions: positions.map((x, i) => x * radius + centre[i % 3]), triangles, flat }
  }

  saveDialog() {
    if (!this.state) return
    const write = (extension, make) => () => {
      save(`${this.mesh.name}.${extension}`, make(this.outcome()))
      open.close()
    }
    const open = dialog(
      'Save the mesh',
      element(
        'p',
        { class: 'dim' },
        this.state.flat ? 'With its texture coordinates.' : 'Unwrap it first to save texture coordinates too.'
      ),
      element(
        'div',
        { class: 'row' },
        button({ label: 'OBJ', icon: 'save', onClick: write('obj', writeObj) }),
        button({ label: 'PLY', icon: 'save', onClick: write('ply', writePly) }),
        button({
          label: 'Picture',
          icon: 'picture',
          onClick: () => {
            this.viewer.drawNow()
            this.viewer.canvas.toBlob((blob) => save(`${this.mesh.name}.png`, blob))
            open.close()
          }
        })
      )
    )
  }

  // ---- The shell's side ----

  resize() {
    const box = this.view.getBoundingClientRect()
    this.viewer.resize(box.width, box.height, freeOf(this.host, box))
  }

  theme(name) {
    this.viewer.theme = name
    this.viewer.redraw()
  }

  restored() {} // its canvas is its own

  stop() {
    this.isFlowing = false
    this.remote.stop()
    this.viewer.dispose()
  }
}
