// The controls of smooth and unwrap. MeshPart has the methods that they call.

import { button, choice, element, fileDrop, group, readout, slider, stage, toggle } from '../controls.js'
import { EXTENSIONS } from './formats/read.js'
import { Viewer } from './viewer.js'

export const LONGEST = 0.16 // the largest amount smooths features below this part of the mesh's radius

export class MeshControls {
  constructor(host) {
    this.host = host
    this.viewer = new Viewer({ theme: host.theme, signal: host.signal })
    this.layout()
    this.keys()
  }

  layout() {
    const { host } = this,
      { view, panel, bar } = stage(host)
    this.view = view
    this.hint = element(
      'div',
      { class: 'hint' },
      element('strong', {}, 'Smooth and unwrap'),
      element('p', {}, 'Drop an OBJ, PLY, STL or OFF file here. Drag to turn it.')
    )
    view.append(this.viewer.canvas, this.hint)
    this.openFile = fileDrop(view, { accept: EXTENSIONS.join(), signal: host.signal, onFile: (file) => this.file(file) })
    this.undoButton = button({ icon: 'undo', label: 'Undo', title: 'Undo (U)', disabled: true, onClick: () => this.undo() })
    this.flowButton = button({
      icon: 'play',
      label: 'Flow',
      title: 'Flow: smooth in every frame (Space)',
      pressed: false,
      onClick: (on) => this.flow(on)
    })
    bar.append(
      button({ icon: 'open', label: 'Open', title: 'Open a file (O)', onClick: this.openFile }),
      this.flowButton,
      button({ icon: 'sparkle', label: 'Unwrap', title: 'Unwrap (W)', onClick: () => this.unwrap() }),
      this.undoButton,
      button({ icon: 'save', title: 'Save (S)', onClick: () => this.saveDialog() })
    )
    panel.append(this.meshGroup(), this.smoothGroup(), this.mapGroup(), this.viewGroup())
  }

  meshGroup() {
    this.examples = choice({
      label: 'Example',
      options: [
        ['knot', 'Knot'],
        ['mask', 'Mask']
      ],
      onChange: (name) => this.example(name)
    })
    this.nameOutput = readout({ label: 'Mesh' })
    this.sizeOutput = readout({ label: 'Vertices, triangles' })
    this.notes = element('ul', { class: 'notes', hidden: true })
    return group('Mesh', this.examples, this.nameOutput, this.sizeOutput, this.notes)
  }

  smoothGroup() {
    this.amount = slider({
      label: 'Amount',
      title: 'Features smaller than this part of the mesh become smooth',
      min: 0,
      max: 1,
      value: 0,
      format: (t) => (t === 0 ? 'none' : `${(100 * LONGEST * t ** 1.5).toPrecision(2)} %`),
      onChange: (t) => this.slide(t)
    })
    this.amount.querySelector('input').addEventListener('change', () => this.slideEnd())
    this.boundary = choice({
      label: 'Boundary',
      options: [
        ['fixed', 'Fixed'],
        ['flow', 'Moves']
      ],
      value: 'fixed',
      onChange: () => {}
    })
    this.smoothOutput = readout({ label: 'Last solve', value: '–' })
    return group('Smooth', this.amount, this.boundary, this.smoothOutput)
  }

  mapGroup() {
    this.colours = choice({
      label: 'Colours',
      options: [
        ['plain', 'Plain'],
        ['checker', 'Checker'],
        ['angles', 'Angles']
      ],
      value: 'plain',
      onChange: (name) => this.setColours(name)
    })
    this.squares = slider({
      label: 'Squares',
      min: 8,
      max: 200,
      log: true,
      value: 40,
      format: (n) => String(Math.round(n)),
      onChange: (n) => {
        this.viewer.squares = n
        this.viewer.redraw()
      }
    })
    this.legend = element(
      'div',
      {},
      element('div', { class: 'heat' }),
      element(
        'div',
        { class: 'scale' },
        ...['1: angles kept', '1.25', '2 and above'].map((text) => element('span', {}, text))
      )
    )
    this.meanOutput = readout({
      label: 'Angle distortion, mean',
      title: 'Largest stretch divided by the smallest, weighted by area',
      value: '–'
    })
    this.mostOutput = readout({ label: 'Largest', value: '–' })
    this.chartsOutput = readout({ label: 'Charts, seam edges', value: '–' })
    this.cutOutput = readout({ label: 'Cut', value: '–' })
    this.solveOutput = readout({ label: 'Solve', title: 'The conformal map of all charts', value: '–' })
    this.mapOutput = readout({ label: 'Time in all', value: '–' })
    this.mapControls = element(
      'div',
      { class: 'controls', hidden: true },
      this.colours,
      this.squares,
      this.legend,
      this.meanOutput,
      this.mostOutput,
      this.chartsOutput,
      this.cutOutput,
      this.solveOutput,
      this.mapOutput
    )
    return group(
      'Unwrap',
      button({ icon: 'sparkle', label: 'Unwrap', title: 'Unwrap (W)', onClick: () => this.unwrap() }),
      this.mapControls
    )
  }

  viewGroup() {
    const set = (name) => (on) => {
      this.viewer[name] = on
      this.viewer.redraw()
    }
    return group(
      'View',
      toggle({ label: 'Edges', onChange: set('showsEdges') }),
      toggle({ label: 'Facets', onChange: set('isFaceted') }),
      button({ icon: 'reset', label: 'Reset the view', onClick: () => this.resetView() })
    )
  }

  keys() {
    const { host, viewer } = this,
      step = 0.12
    const camera = (action) => () => {
      action()
      viewer.redraw()
    }
    host.key('o', 'open a file', this.openFile)
    host.key('w', 'unwrap', () => this.unwrap())
    host.key('u', 'undo', () => this.undo())
    host.key('s', 'save', () => this.saveDialog())
    host.key(' ', 'flow, or stop', () => this.flow(!this.isFlowing))
    host.key('c', 'the next colours', () => this.nextColours())
    host.key('0', 'reset the view', () => this.resetView())
    for (const [key, dx, dy] of [
      ['arrowleft', -step, 0],
      ['arrowright', step, 0],
      ['arrowup', 0, -step],
      ['arrowdown', 0, step]
    ])
      host.key(
        key,
        'turn',
        camera(() => viewer.camera.turn(dx, dy))
      )
    host.key(
      '+',
      'closer',
      camera(() => viewer.camera.zoom(0.87))
    )
    host.key(
      '-',
      'farther',
      camera(() => viewer.camera.zoom(1.15))
    )
  }

  setColours(name) {
    this.viewer.colours = name
    this.legend.hidden = name !== 'angles'
    this.squares.hidden = name !== 'checker'
    this.viewer.redraw()
  }

  nextColours() {
    const names = ['plain', 'checker', 'angles'],
      name = names[(names.indexOf(this.viewer.colours) + 1) % 3]
    this.colours.set(name)
    this.setColours(name)
  }

  resetView() {
    this.viewer.camera.reset()
    this.viewer.flatCamera.reset()
    this.viewer.redraw()
  }
}
