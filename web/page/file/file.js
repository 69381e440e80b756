// Solve a file: the structure of a sparse matrix, its multigrid hierarchy, a solve with its residual, and what this device
// can do. All computation is in a worker.

import { chart } from '../chart.js'
import { button, element, fileDrop, save, select, slider } from '../controls.js'
import { contextRows, libraryRows } from '../device.js'
import { Remote } from '../remote.js'
import { Work } from '../work.js'
import { EXAMPLES } from './examples.js'
import { drawStructure, writeVector } from './structure.js'

const METHODS = ['auto', 'cg', 'minres', 'bicgstab', 'idr', 'gmres', 'lsmr', 'cgls', 'richardson']
const PRECONDITIONERS = ['auto', 'none', 'jacobi', 'block-jacobi', 'chebyshev', 'isai', 'amg', 'ilu', 'ic']
const PRECISIONS = [['auto', 'auto'], ['single', 'single'], ['mixed', 'mixed'], ['double', 'double']]
const ADVICE = [
  [/maximum number of iterations/, 'Allow more iterations, or choose another preconditioner: amg for elliptic problems, ilu for others.'],
  [/stagnated/, 'The tolerance is below what this precision reaches: choose mixed or double precision, or a larger tolerance.'],
  [/not positive definite/, 'Choose minres for a symmetric matrix, or bicgstab, idr or gmres.'],
  [/not symmetric/, 'Choose bicgstab, idr or gmres.'],
  [/diagonal/, 'Choose ilu, or no preconditioner with minres, gmres or idr.'],
  [/singular/, 'Choose the right-hand side “A times a known x”: it is in the range of A.'],
  [/diverged|breakdown/, 'Choose idr or gmres, and ilu as the preconditioner.'],
]

const whole = (x) => Math.round(x).toLocaleString('en')
const seconds = (s) => (s < 1 ? `${Math.max(1, Math.round(1000 * s))} ms` : `${s.toFixed(2)} s`)
const bytes = (n) => (n < 1e6 ? `${Math.round(n / 1e3)} kB` : `${(n / 1e6).toFixed(n < 1e7 ? 1 : 0)} MB`)
const round = (x) => Number(x.toPrecision(1 + (x < 2e3))) // 2 digits, 1 of large numbers
const plain = (x) => (x >= 1e-3 && x < 1e5 ? String(Number(x.toPrecision(3))) : small(x))
const small = (x) => (x === 0 ? '0' : x.toExponential(2))

export async function start(host) {
  return new FilePart(host)
}

class FilePart {
  matrix = null
  answer = null
  rightFile = null

  constructor(host) {
    this.host = host
    this.remote = new Remote(new URL('worker.js', import.meta.url), { signal: host.signal, onRestart: () => { this.reloading = this.reload() } })
    this.layout()
    this.work = new Work(host)
    this.keys()
    this.begin()
  }

  /* ---- Layout ---- */

  layout() {
    const { host } = this, box = element('div', { class: 'view sheet' }), inner = element('div', { class: 'cards' })
    host.element.classList.add('file')
    this.openFile = fileDrop(box, { accept: '.mtx,.mm,.gz,.tgz,.tar', signal: host.signal, onFile: (file) => this.file(file) })
    this.examples = select({ label: 'Example', options: [['', 'from a file'], ...Object.entries(EXAMPLES).map(([name, { label }]) => [name, label])],
      value: 'poisson', onChange: (name) => name && this.take({ example: name }) })
    const head = element('header', { class: 'sheet-head' }, element('div', {}, element('h2', {}, 'Solve a file'),
      element('p', { class: 'dim' }, 'Drop a Matrix Market file here: .mtx, .mtx.gz, or .tar.gz of the SuiteSparse collection. Nothing leaves this device.')),
      element('div', { class: 'row' }, button({ icon: 'open', label: 'Open', title: 'Open a file (O)', onClick: this.openFile }), this.examples))
    inner.append(head, element('div', { class: 'column' }, this.structureCard(), this.deviceCard()),
      element('div', { class: 'column' }, this.solveCard(), this.hierarchyCard()))
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
    this.canvas.addEventListener('pointerleave', () => { this.under.textContent = ' ' })
    return this.card('card-structure', 'Structure', this.canvas, this.under, this.facts)
  }

  solveCard() {
    const names = (list) => list.map((name) => [name, name])
    this.method = select({ label: 'Method', options: names(METHODS), value: 'auto' })
    this.preconditioner = select({ label: 'Preconditioner', options: names(PRECONDITIONERS), value: 'auto' })
    this.precision = select({ label: 'Precision', options: PRECISIONS, value: 'auto' })
    this.right = select({ label: 'Right-hand side', options: [['ones', 'ones'], ['known', 'A times a known x'], ['file', 'from a file …']], value: 'ones',
      onChange: (kind) => kind === 'file' && !this.rightFile && this.openRight() })
    this.rtol = slider({ label: 'Tolerance', min: 1e-14, max: 1e-2, log: true, value: 1e-8, format: (x) => x.toExponential(0) })
    this.most = slider({ label: 'Iterations, at most', min: 10, max: 100000, log: true, value: 2000, format: (x) => whole(round(x)) })
    this.solveButton = button({ icon: 'play', label: 'Solve', title: 'Solve (Enter)', kind: 'primary', disabled: true, onClick: () => this.solve() })
    this.saveButton = button({ icon: 'save', label: 'Save x', title: 'Save the answer (S)', disabled: true, onClick: () => this.saveAnswer() })
    this.openRight = this.pickRight()
    this.curve = chart({ series: [{ name: 'residual', colour: '--accent' }], length: 1e9, height: 190, label: 'Relative residual of each iteration' })
    this.verdict = element('p', { class: 'verdict' }, 'The residual of each iteration appears here.')
    this.results = element('table', { class: 'facts' })
    return this.card('card-solve', 'Solve', element('div', { class: 'options' }, this.method, this.preconditioner, this.precision, this.right, this.rtol, this.most),
      element('div', { class: 'row' }, this.solveButton, this.saveButton), this.curve, this.verdict, this.results)
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
    this.levels = element('div', { class: 'levels' }, element('p', { class: 'dim' }, 'Algebraic multigrid by smoothed aggregation: the levels of this matrix.'))
    this.hierarchyButton = button({ icon: 'how', label: 'Build the hierarchy', title: 'Build the hierarchy (A)', disabled: true, onClick: () => this.hierarchy() })
    return this.card('card-levels', 'Multigrid hierarchy', element('div', { class: 'row' }, this.hierarchyButton), this.levels)
  }

  deviceCard() {
    this.backend = select({ label: 'Runs on', options: [['auto', 'the best'], ['gl', 'WebGL 2'], ['cpu', 'WebAssembly']], value: 'auto', onChange: () => this.setBackend() })
    this.device = element('table', { class: 'facts' })
    return this.card('card-device', 'This device', this.backend, this.device)
  }

  keys() {
    const { host } = this
    host.key('o', 'open a file', this.openFile)
    host.key('enter', 'solve', () => this.solve())
    host.key('a', 'build the hierarchy', () => this.hierarchy())
    host.key('s', 'save the answer', () => this.saveAnswer())
  }

  /* ---- Files ---- */

  async begin() {
    const found = await this.work.run('Opening the device', ({ signal }) => this.call('library', { backend: this.backend.value }, { signal }))
    if (found) this.showDevice(found.info)
    await this.take({ example: 'poisson' })
    await this.solve()
    await this.hierarchy()
  }

  async setBackend() {
    const found = await this.work.run('Opening the device', ({ signal }) => this.call('library', { backend: this.backend.value }, { signal }))
    if (found) return this.showDevice(found.info)
    if (this.backend.value === 'auto') return
    this.backend.set('auto')
    await this.setBackend()
  }

  /* A dropped vector with as many numbers as the matrix has rows is its right-hand side. */
  async file(file) {
    if (this.matrix && await isArray(file)) return this.takeRight(file)
    await this.take({ file })
  }

  async take(argument) {
    const label = argument.file ? `Reading ${argument.file.name}` : 'Making the example'
    const found = await this.work.run(label, ({ signal, say }) => this.call('load', argument, { signal,
      onProgress: ({ entries, expected }) => say(`${label}: ${whole(entries)} of ${whole(expected)} entries`) }))
    if (!found) return void this.examples.set(this.source?.example ?? '')
    this.source = argument
    this.examples.set(argument.example ?? '')
    this.matrix = found
    this.answer = null
    this.rightFile = null
    if (this.right.value === 'file') this.right.set('ones')
    this.show()
  }

  async takeRight(file) {
    const found = await this.work.run(`Reading ${file.name}`, ({ signal }) => this.call('setRight', { file }, { signal }))
    if (found) this.rightFile = file
    this.right.set(this.rightFile ? 'file' : 'ones')
    if (found) this.host.say(`Right-hand side: ${found.name}, ${whole(found.length)} numbers.`)
  }

  /* Calls the worker, after it has the matrix again if it was ended. */
  async call(name, argument, options) {
    await this.reloading
    return this.remote.call(name, argument, options)
  }

  /* The worker was ended: it opens the device, and reads the matrix and its right-hand side again. */
  async reload() {
    if (this.host.signal.aborted) return
    try {
      await this.remote.call('library', { backend: this.backend.value })
      if (this.source) await this.remote.call('load', this.source)
      if (this.rightFile) await this.remote.call('setRight', { file: this.rightFile })
    } catch (error) {
      this.host.fail(error)
    }
  }

  /* ---- What is shown ---- */

  rows(table, rows) {
    table.replaceChildren(...rows.filter(Boolean).map(([name, value]) => element('tr', {}, element('th', {}, name), element('td', {}, String(value)))))
  }

  show() {
    const { matrix } = this, { figures, info } = matrix
    this.drawStructure()
    this.rows(this.facts, [['matrix', matrix.name], ['size', `${whole(matrix.rows)} × ${whole(matrix.columns)}`],
      ['entries', `${whole(matrix.entries)}, ${(matrix.entries / matrix.rows).toFixed(1)} in a row`], ['rows', `${figures.shortest} to ${figures.longest} entries`],
      ['bandwidth', whole(figures.bandwidth)], ['values', `${plain(figures.least)} to ${plain(figures.most)} in magnitude`],
      ['symmetric', info.symmetric ? 'yes' : 'no'], matrix.symmetry && ['file', [matrix.field, matrix.symmetry].filter(Boolean).join(', ')],
      ['format', `${info.format}, ${bytes(info.bytes)}`], ['read in', seconds(matrix.seconds)]])
    this.solveButton.disabled = false
    this.hierarchyButton.disabled = matrix.rows !== matrix.columns
    this.saveButton.disabled = true
    this.levels.replaceChildren(element('p', { class: 'dim' }, matrix.rows === matrix.columns ? 'Algebraic multigrid by smoothed aggregation: the levels of this matrix.'
      : 'A hierarchy needs a square matrix.'))
    this.curve.set([[]])
    this.results.replaceChildren()
    this.verdict.className = 'verdict'
    this.verdict.textContent = 'The residual of each iteration appears here.'
  }

  drawStructure() {
    if (!this.matrix) return
    const style = getComputedStyle(this.host.element), rgb = (name) => {
      const pen = new OffscreenCanvas(1, 1).getContext('2d')
      pen.fillStyle = style.getPropertyValue(name).trim()
      pen.fillRect(0, 0, 1, 1)
      return [...pen.getImageData(0, 0, 1, 1).data]
    }
    const { squares, rows, columns } = this.matrix
    drawStructure(this.canvas, { ...squares, rows, columns }, { ink: rgb('--second'), paper: rgb('--raised') })
    this.canvas.style.aspectRatio = `${squares.width} / ${squares.height}`
    this.canvas.classList.toggle('is-small', squares.width < 300)
  }

  point(event) {
    if (!this.matrix) return
    const box = this.canvas.getBoundingClientRect(), { squares, rows, columns } = this.matrix
    const i = Math.min(squares.height - 1, Math.max(0, Math.floor(((event.clientY - box.top) / box.height) * squares.height)))
    const j = Math.min(squares.width - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * squares.width)))
    const range = (k, parts, size) => {
      const first = Math.ceil((k * size) / parts), last = Math.max(first, Math.ceil(((k + 1) * size) / parts) - 1)
      return first === last ? whole(first) : `${whole(first)} to ${whole(last)}`
    }
    this.under.textContent = `Rows ${range(i, squares.height, rows)}, columns ${range(j, squares.width, columns)}: ${whole(squares.counts[i * squares.width + j])} entries`
  }

  showDevice(info) {
    const probe = new OffscreenCanvas(1, 1).getContext('webgl2')
    this.rows(this.device, [...libraryRows({ info }), ...contextRows(probe), ['processors', navigator.hardwareConcurrency ?? 'unknown'],
      navigator.deviceMemory && ['memory', `${navigator.deviceMemory} GB or more`]])
    probe?.getExtension('WEBGL_lose_context')?.loseContext()
  }

  /* ---- Solving ---- */

  async hierarchy() {
    if (!this.matrix || this.hierarchyButton.disabled) return
    const found = await this.work.run('Building the hierarchy', ({ signal }) => this.call('hierarchy', {}, { signal }))
    if (!found) return
    const [finest] = found.levels
    const bar = (share) => element('i', { class: 'level-bar', style: `width: ${Math.max(0.5, 100 * share)}%` })
    const table = element('table', { class: 'level-table' }, element('tr', {}, ...['Level', 'Rows', 'Entries', 'In a row', ''].map((name) => element('th', {}, name))),
      ...found.levels.map(({ rows, entries }, k) => element('tr', {}, ...[k, whole(rows), whole(entries), (entries / rows).toFixed(1)].map((text) => element('td', {}, String(text))),
        element('td', { class: 'bar-cell' }, bar(Math.sqrt(entries / finest.entries))))))
    const sum = found.operatorComplexity ?? found.levels.reduce((total, { entries }) => total + entries, 0) / finest.entries
    this.levels.replaceChildren(table, element('p', { class: 'dim' },
      `${found.levels.length} levels in ${seconds(found.seconds)}. All levels have ${sum.toFixed(2)} times the entries of the first. Bars: square root of entries.`))
  }

  async solve() {
    if (!this.matrix || this.work.isBusy) return
    const options = { kind: this.right.value, rtol: this.rtol.value, maxIterations: round(this.most.value) }
    for (const name of ['method', 'preconditioner', 'precision']) if (this[name].value !== 'auto') options[name] = this[name].value
    const points = []
    this.curve.set([[]])
    this.results.replaceChildren()
    this.verdict.className = 'verdict'
    this.verdict.textContent = 'Solving …'
    const found = await this.work.run('Solving', ({ signal, say }) => this.call('solve', options, { signal, onProgress: (now) => {
      points.push(...now.points.map(([, residual]) => residual))
      this.curve.set([thin(points)])
      const [iteration, residual] = now.points.at(-1)
      say(`Iteration ${whole(iteration ?? points.length)}, residual ${residual.toExponential(1)}`)
    } }))
    if (found) this.showAnswer(found, points)
    else if (this.verdict.textContent === 'Solving …') this.verdict.textContent = 'The solve was stopped, or failed: the message has the reason.'
  }

  showAnswer(found, points) {
    this.answer = found
    points.push(...found.points.map(([, residual]) => residual))
    this.curve.set([thin(found.history?.length > points.length ? found.history : points)])
    const advice = found.converged ? '' : ADVICE.find(([pattern]) => pattern.test(`${found.reason} ${found.message}`))?.[1] ?? ''
    this.verdict.className = `verdict ${found.converged ? 'is-good' : 'is-bad'}`
    this.verdict.textContent = found.converged ? `Converged in ${whole(found.iterations)} iterations, ${seconds(found.seconds)}.`
      : `Not converged: ${found.message || found.reason}. ${advice}`
    this.rows(this.results, [['method', `${found.method}, ${found.preconditioner}`], ['precision', found.precision], ['iterations', whole(found.iterations)],
      ['residual', `${small(found.residual)}, recomputed here in double: ${small(found.trueResidual)}`],
      found.error !== undefined && ['error of x', small(found.error)], ['time', seconds(found.seconds)], ['reason', found.reason]])
    this.saveButton.disabled = false
  }

  saveAnswer() {
    if (!this.answer) return void this.host.say('Solve first.', 'info', 'save')
    save(`${this.matrix.name.replace(/\.[^.]*$/, '').replace(/[^\w-]+/g, '-')}-x.mtx`, writeVector(this.answer.x, ` x of ${this.matrix.name}, relative residual ${small(this.answer.trueResidual)}`))
  }

  /* ---- The shell's side ---- */

  resize() {
    this.curve.redraw()
  }

  theme() {
    this.drawStructure()
    this.curve.redraw()
  }

  restored() {} // the worker has a context of its own

  stop() {
    this.remote.stop()
  }
}

/* At most about a thousand points of a curve. */
function thin(points) {
  const every = Math.ceil(points.length / 1000)
  return every > 1 ? [...points].filter((_, k) => k % every === 0 || k === points.length - 1) : [...points]
}

/* Whether a file is a Matrix Market array. */
async function isArray(file) {
  return /^%%MatrixMarket\s+matrix\s+array/i.test(await file.slice(0, 80).text())
}
