// Solve a file: the structure of a sparse matrix, its multigrid hierarchy, a solve with its residual, and what this device
// can do. All computation is in a worker.

import { element, save } from '../controls.js'
import { contextRows } from '../device.js'
import { Remote } from '../remote.js'
import { Work } from '../work.js'
import { FileCards } from './cards.js'
import { advise, bytes, infoRows, plain, round, seconds, small, whole } from './words.js'
import { drawStructure, wholeOf, writeVector, zoomed } from './structure.js'

export async function start(host) {
  return new FilePart(host)
}

class FilePart extends FileCards {
  matrix = null
  answer = null
  rightFile = null

  constructor(host) {
    super(host)
    this.remote = new Remote(new URL('worker.js', import.meta.url), {
      signal: host.signal,
      onRestart: () => {
        this.reloading = this.reload()
      }
    })
    this.work = new Work(host)
    this.begin()
  }

  // ---- Files ----

  async begin() {
    const found = await this.work.run('Opening the device', ({ signal }) =>
      this.call('library', { backend: this.backend.value }, { signal })
    )
    if (found) this.showDevice(found.info)
    if (!this.source) await this.take({ example: 'poisson' })
    for (const next of [() => this.solve(), () => this.hierarchy()])
      if (this.source?.example === 'poisson' && !this.work.isBusy) await next()
  }

  async setBackend() {
    const found = await this.work.run('Opening the device', ({ signal }) =>
      this.call('library', { backend: this.backend.value }, { signal })
    )
    if (found) {
      this.showDevice(found.info)
      if (this.matrix && found.matrix) this.showFacts(found.matrix)
      return
    }
    if (this.backend.value === 'auto') return
    this.backend.set('auto')
    await this.setBackend()
  }

  // A dropped vector with as many numbers as the matrix has rows is its right-hand side.
  async file(file) {
    if (this.matrix && (await isArray(file))) return this.takeRight(file)
    await this.take({ file })
  }

  async take(argument) {
    await this.work.interrupt()
    const label = argument.file ? `Reading ${argument.file.name}` : 'Making the example'
    const found = await this.work.run(label, ({ signal, say }) =>
      this.call('load', argument, {
        signal,
        onProgress: ({ entries, expected }) => say(`${label}: ${whole(entries)} of ${whole(expected)} entries`)
      })
    )
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
    await this.work.interrupt()
    const found = await this.work.run(`Reading ${file.name}`, ({ signal }) => this.call('setRight', { file }, { signal }))
    if (found) this.rightFile = file
    this.right.set(this.rightFile ? 'file' : 'ones')
    if (found) this.host.say(`Right-hand side: ${found.name}, ${whole(found.length)} numbers.`)
  }

  // Calls the worker, after it has the matrix again if it was ended.
  async call(name, argument, options) {
    await this.reloading
    return this.remote.call(name, argument, options)
  }

  // The worker was ended: it opens the device, and reads the matrix and its right-hand side again.
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

  // ---- What is shown ----

  rows(table, rows) {
    table.replaceChildren(
      ...rows
        .filter(Boolean)
        .map(([name, value]) => element('tr', {}, element('th', {}, name), element('td', {}, String(value))))
    )
  }

  showFacts(info) {
    const { matrix } = this,
      { figures } = matrix
    matrix.info = info
    this.rows(this.facts, [
      ['matrix', matrix.name],
      ['size', `${whole(matrix.rows)} × ${whole(matrix.columns)}`],
      ['entries', `${whole(matrix.entries)}, ${(matrix.entries / matrix.rows).toFixed(1)} in a row`],
      ['rows', `${figures.shortest} to ${figures.longest} entries`],
      ['bandwidth', whole(figures.bandwidth)],
      ['values', `${plain(figures.least)} to ${plain(figures.most)} in magnitude`],
      ['symmetric', info.symmetric ? 'yes' : 'no'],
      matrix.symmetry && ['file', [matrix.field, matrix.symmetry].filter(Boolean).join(', ')],
      ['format', `${info.format}, ${bytes(info.bytes)}`],
      ['read in', seconds(matrix.seconds)]
    ])
  }

  show() {
    const { matrix } = this
    this.drawStructure()
    this.showFacts(matrix.info)
    this.solveButton.disabled = false
    this.hierarchyButton.disabled = matrix.rows !== matrix.columns
    this.saveButton.disabled = true
    this.levels.replaceChildren(
      element(
        'p',
        { class: 'dim' },
        matrix.rows === matrix.columns
          ? 'Algebraic multigrid by smoothed aggregation: the levels of this matrix.'
          : 'A hierarchy needs a square matrix.'
      )
    )
    this.curve.set([[]])
    this.results.replaceChildren()
    this.verdict.className = 'verdict'
    this.verdict.textContent = 'The residual of each iteration appears here.'
  }

  drawStructure() {
    if (!this.matrix) return
    const style = getComputedStyle(this.host.element),
      rgb = (name) => {
        const pen = new OffscreenCanvas(1, 1).getContext('2d')
        pen.fillStyle = style.getPropertyValue(name).trim()
        pen.fillRect(0, 0, 1, 1)
        return [...pen.getImageData(0, 0, 1, 1).data]
      }
    const { squares } = this.matrix
    drawStructure(this.canvas, squares, { ink: rgb('--second'), negative: rgb('--accent'), paper: rgb('--raised') })
    this.canvas.style.aspectRatio = `${squares.width} / ${squares.height}`
    this.canvas.classList.toggle('is-small', squares.width < 300)
  }

  // Shows a part of the matrix around a place of the picture.
  async zoom(factor, x = 0.5, y = 0.5) {
    const { matrix } = this
    if (!matrix) return
    // A key may be pressed again before the last window is drawn.
    const window = matrix.wanted ?? matrix.squares.window,
      next = factor === Infinity ? wholeOf(matrix) : zoomed(matrix, window, factor, x, y)
    matrix.wanted = next
    try {
      const squares = await this.call('squares', { window: next })
      if (this.matrix !== matrix || matrix.wanted !== next) return
      matrix.squares = squares
      this.drawStructure()
    } catch (error) {
      this.host.fail(error)
    }
  }

  /** Where in the picture an event is, from 0 to 1. The picture has margins if its box has another shape. */
  placeOf(event) {
    const { canvas } = this,
      box = canvas.getBoundingClientRect(),
      scale = Math.min(box.width / canvas.width, box.height / canvas.height),
      part = (fromMiddle, size) => Math.min(0.999999, Math.max(0, 0.5 + fromMiddle / (scale * size)))
    return {
      x: part(event.clientX - box.left - box.width / 2, canvas.width),
      y: part(event.clientY - box.top - box.height / 2, canvas.height)
    }
  }

  point(event) {
    if (!this.matrix) return
    const { width, height, counts, window } = this.matrix.squares,
      { x, y } = this.placeOf(event),
      i = Math.floor(y * height),
      j = Math.floor(x * width)
    const range = (k, parts, first, size) => {
      const low = Math.ceil((k * size) / parts),
        high = Math.max(low, Math.ceil(((k + 1) * size) / parts) - 1)
      return low === high ? whole(first + low) : `${whole(first + low)} to ${whole(first + high)}`
    }
    this.under.textContent = `Rows ${range(i, height, window.top, window.height)}, columns ${range(j, width, window.left, window.width)}: ${whole(counts[i * width + j])}`
  }

  showDevice(info) {
    const probe = new OffscreenCanvas(1, 1).getContext('webgl2')
    this.rows(this.device, [
      ...infoRows(info),
      ...contextRows(probe),
      ['processors', navigator.hardwareConcurrency ?? 'unknown'],
      navigator.deviceMemory && ['memory', `${navigator.deviceMemory} GB or more`]
    ])
    probe?.getExtension('WEBGL_lose_context')?.loseContext()
  }

  // ---- Solving ----

  async hierarchy() {
    if (!this.matrix || this.hierarchyButton.disabled) return
    const found = await this.work.run('Building the hierarchy', ({ signal }) => this.call('hierarchy', {}, { signal }))
    if (!found) return
    const [finest] = found.levels
    const bar = (share) => element('i', { class: 'level-bar', style: `width: ${Math.max(0.5, 100 * share)}%` })
    const table = element(
      'table',
      { class: 'level-table' },
      element('tr', {}, ...['Level', 'Rows', 'Entries', 'In a row', ''].map((name) => element('th', {}, name))),
      ...found.levels.map(({ rows, entries }, k) =>
        element(
          'tr',
          {},
          ...[k, whole(rows), whole(entries), (entries / rows).toFixed(1)].map((text) => element('td', {}, String(text))),
          element('td', { class: 'bar-cell' }, bar(Math.sqrt(entries / finest.entries)))
        )
      )
    )
    const sum = found.operatorComplexity ?? found.levels.reduce((total, { entries }) => total + entries, 0) / finest.entries
    this.levels.replaceChildren(
      table,
      element(
        'p',
        { class: 'dim' },
        `${found.levels.length} levels in ${seconds(found.seconds)}. All levels have ${sum.toFixed(2)} times the entries of the first. Bars: square root of entries.`
      )
    )
  }

  async solve() {
    if (!this.matrix || this.work.isBusy) return
    const options = { kind: this.right.value, rtol: this.rtol.value, maxIterations: round(this.most.value) }
    for (const name of ['method', 'preconditioner', 'precision'])
      if (this[name].value !== 'auto') options[name] = this[name].value
    const points = []
    this.curve.set([[]])
    this.results.replaceChildren()
    this.verdict.className = 'verdict'
    this.verdict.textContent = 'Solving …'
    const found = await this.work.run('Solving', ({ signal, say }) =>
      this.call('solve', options, {
        signal,
        onProgress: (now) => {
          points.push(...now.points.map(([, residual]) => residual))
          this.curve.set([thin(points)])
          const [iteration, residual] = now.points.at(-1)
          say(`Iteration ${whole(iteration ?? points.length)}, residual ${residual.toExponential(1)}`)
        }
      })
    )
    if (found) this.showAnswer(found, points)
    else if (this.verdict.textContent === 'Solving …')
      this.verdict.textContent = 'The solve was stopped, or failed: the message has the reason.'
  }

  showAnswer(found, points) {
    this.answer = found
    points.push(...found.points.map(([, residual]) => residual))
    this.curve.set([thin(found.history?.length > points.length ? found.history : points)])
    const advice = found.converged ? '' : advise(`${found.reason} ${found.message}`)
    this.verdict.className = `verdict ${found.converged ? 'is-good' : 'is-bad'}`
    this.verdict.textContent = found.converged
      ? `Converged in ${whole(found.iterations)} iterations, ${seconds(found.seconds)}.`
      : `Not converged: ${found.message || found.reason}. ${advice}`
    this.rows(this.results, [
      ['method', `${found.method}, ${found.preconditioner}`],
      ['precision', found.precision],
      ['iterations', whole(found.iterations)],
      ['residual', `${small(found.residual)}, recomputed here in double: ${small(found.trueResidual)}`],
      found.error !== undefined && ['error of x', small(found.error)],
      ['time', seconds(found.seconds)],
      ['reason', found.reason]
    ])
    this.saveButton.disabled = false
  }

  saveAnswer() {
    if (!this.answer) return void this.host.say('Solve first.', 'info', 'save')
    save(
      `${this.matrix.name.replace(/\.[^.]*$/, '').replace(/[^\w-]+/g, '-')}-x.mtx`,
      writeVector(this.answer.x, ` x of ${this.matrix.name}, relative residual ${small(this.answer.trueResidual)}`)
    )
  }

  // ---- The shell's side ----

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

// At most about a thousand points of a curve.
function thin(points) {
  const every = Math.ceil(points.length / 1000)
  return every > 1 ? [...points].filter((_, k) => k % every === 0 || k === points.length - 1) : [...points]
}

// Whether a file is a Matrix Market array.
async function isArray(file) {
  return /^%%MatrixMarket\s+matrix\s+array/i.test(await file.slice(0, 80).text())
}
