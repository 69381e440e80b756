// The cards of solve a file. FilePart has the methods that they call.

import { chart } from '../chart.js'
import { button, element, fileDrop, select, slider } from '../controls.js'
import { EXAMPLES } from './examples.js'
import { round, whole } from './words.js'

const METHODS = ['auto', 'cg', 'minres', 'bicgstab', 'idr', 'gmres', 'lsmr', 'cgls', 'richardson']
const PRECONDITIONERS = ['auto', 'none', 'jacobi', 'block-jacobi', 'chebyshev', 'isai', 'amg', 'ilu', 'ic']
const PRECISIONS = [
  ['auto', 'auto'],
  ['single', 'single'],
  ['mixed', 'mixed'],
  ['double', 'double']
]
export class FileCards {
  constructor(host) {
    this.host = host
    this.layout()
    this.keys()
  }

  layout() {
    const { host } = this,
      box = element('div', { class: 'view sheet' }),
      inner = element('div', { class: 'cards' })
    host.element.classList.add('file')
    this.openFile = fileDrop(box, {
      accept: '.mtx,.mm,.gz,.tgz,.tar',
      signal: host.signal,
      onFile: (file) => this.file(file)
    })
    this.examples = select({
      label: 'Example',
      options: [['', 'from a file'], ...Object.entries(EXAMPLES).map(([name, { label }]) => [name, label])],
      value: 'poisson',
      onChange: (name) => name && this.take({ example: name })
    })
    const head = element(
      'header',
      { class: 'sheet-head' },
      element(
        'div',
        {},
        element('h2', {}, 'Solve a file'),
        element(
          'p',
          { class: 'dim' },
          'Drop a Matrix Market file here: .mtx, .mtx.gz, or .tar.gz of the SuiteSparse collection. Nothing leaves this device.'
        )
      ),
      element(
        'div',
        { class: 'row' },
        button({ icon: 'open', label: 'Open', title: 'Open a file (O)', onClick: this.openFile }),
        this.examples
      )
    )
    inner.append(
      head,
      element('div', { class: 'column' }, this.structureCard(), this.deviceCard()),
      element('div', { class: 'column' }, this.solveCard(), this.hierarchyCard())
    )
    box.append(inner)
    host.element.append(box)
    this.box = box
  }

  card(name, title, ...children) {
    return element('section', { class: `card ${name}`, 'aria-label': title }, element('h3', {}, title), ...children)
  }

  structureCard() {
    this.canvas = element('canvas', { class: 'structure', role: 'img', 'aria-label': 'Structure of the matrix' })
    this.under = element('p', { class: 'dim under' }, ' ')
    this.facts = element('table', { class: 'facts' })
    this.canvas.addEventListener('pointermove', (event) => this.point(event))
    this.canvas.addEventListener('pointerleave', () => {
      this.under.textContent = ' '
    })
    this.canvas.addEventListener('click', (event) => {
      const { x, y } = this.placeOf(event)
      this.zoom(event.shiftKey ? 4 : 0.25, x, y)
    })
    const tools = element(
      'div',
      { class: 'row zoom' },
      button({ label: '+', title: 'Closer (+)', onClick: () => this.zoom(0.25) }),
      button({ label: '−', title: 'Farther (−)', onClick: () => this.zoom(4) }),
      button({ label: 'All', title: 'The whole matrix (0)', onClick: () => this.zoom(Infinity) })
    )
    return this.card(
      'card-structure',
      'Structure',
      this.canvas,
      element('div', { class: 'under-row' }, this.under, tools),
      this.facts
    )
  }

  solveCard() {
    const names = (list) => list.map((name) => [name, name])
    this.method = select({ label: 'Method', options: names(METHODS), value: 'auto' })
    this.preconditioner = select({ label: 'Preconditioner', options: names(PRECONDITIONERS), value: 'auto' })
    this.precision = select({ label: 'Precision', options: PRECISIONS, value: 'auto' })
    this.right = select({
      label: 'Right-hand side',
      options: [
        ['ones', 'ones'],
        ['known', 'A times a known x'],
        ['file', 'from a file …']
      ],
      value: 'ones',
      onChange: (kind) => kind === 'file' && !this.rightFile && this.openRight()
    })
    this.rtol = slider({
      label: 'Tolerance',
      min: 1e-14,
      max: 1e-2,
      log: true,
      value: 1e-8,
      format: (x) => x.toExponential(0)
    })
    this.most = slider({
      label: 'Iterations, at most',
      min: 10,
      max: 100000,
      log: true,
      value: 2000,
      format: (x) => whole(round(x))
    })
    this.solveButton = button({
      icon: 'play',
      label: 'Solve',
      title: 'Solve (Enter)',
      kind: 'primary',
      disabled: true,
      onClick: () => this.solve()
    })
    this.saveButton = button({
      icon: 'save',
      label: 'Save x',
      title: 'Save the answer (S)',
      disabled: true,
      onClick: () => this.saveAnswer()
    })
    this.openRight = this.pickRight()
    this.curve = chart({
      series: [{ name: 'residual', colour: '--accent' }],
      length: 1e9,
      height: 190,
      label: 'Relative residual of each iteration'
    })
    this.verdict = element('p', { class: 'verdict' }, 'The residual of each iteration appears here.')
    this.results = element('table', { class: 'facts' })
    return this.card(
      'card-solve',
      'Solve',
      element(
        'div',
        { class: 'options' },
        this.method,
        this.preconditioner,
        this.precision,
        this.right,
        this.rtol,
        this.most
      ),
      element('div', { class: 'row' }, this.solveButton, this.saveButton),
      this.curve,
      this.verdict,
      this.results
    )
  }

  pickRight() {
    const input = element('input', { type: 'file', accept: '.mtx,.mm,.gz', hidden: true })
    input.addEventListener('change', () => {
      if (input.files[0]) this.takeRight(input.files[0])
      input.value = ''
    })
    input.addEventListener('cancel', () => this.right.set(this.rightFile ? 'file' : 'ones'))
    this.right.append(input)
    return () => input.click()
  }

  hierarchyCard() {
    this.levels = element(
      'div',
      { class: 'levels' },
      element('p', { class: 'dim' }, 'Algebraic multigrid by smoothed aggregation: the levels of this matrix.')
    )
    this.hierarchyButton = button({
      icon: 'how',
      label: 'Build the hierarchy',
      title: 'Build the hierarchy (A)',
      disabled: true,
      onClick: () => this.hierarchy()
    })
    return this.card(
      'card-levels',
      'Multigrid hierarchy',
      element('div', { class: 'row' }, this.hierarchyButton),
      this.levels
    )
  }

  deviceCard() {
    this.backend = select({
      label: 'Runs on',
      options: [
        ['auto', 'the best'],
        ['gl', 'WebGL 2'],
        ['cpu', 'WebAssembly']
      ],
      value: 'auto',
      onChange: () => this.setBackend()
    })
    this.device = element('table', { class: 'facts' })
    return this.card('card-device', 'This device', this.backend, this.device)
  }

  keys() {
    const { host } = this
    host.key('o', 'open a file', this.openFile)
    host.key('enter', 'solve', () => this.solve())
    host.key('a', 'build the hierarchy', () => this.hierarchy())
    host.key('s', 'save the answer', () => this.saveAnswer())
    host.key('+', 'closer', () => this.zoom(0.25))
    host.key('-', 'farther', () => this.zoom(4))
    host.key('0', 'the whole matrix', () => this.zoom(Infinity))
  }
}
