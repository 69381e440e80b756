// Figure 3: a V-cycle, level by level. Each product with a matrix is the library's; each picture is the error of a level.

import { element, button } from '../controls.js'
import { poisson, restrict, prolongAndAdd, norm, random } from './problems.js'
import { picture, captioned } from './pictures.js'

const SIZES = [63, 31, 15, 7, 3]
const DAMPING = 0.8 // of Jacobi's method
const SMOOTHING = 2 // steps before and after the coarser level

export async function cycleFigure(host, ts) {
  const levels = SIZES.map((n) => ({ n, A: ts.matrix(poisson(n)), diagonal: 4 * (n + 1) ** 2 }))
  const last = levels.at(-1)
  const noise = () => {
    const next = random(3)
    return Float64Array.from({ length: SIZES[0] ** 2 }, (_, i) => {
      const x = (i % SIZES[0] + 1) / (SIZES[0] + 1), y = (Math.floor(i / SIZES[0]) + 1) / (SIZES[0] + 1)
      return next() - 0.5 + 0.6 * Math.sin(2 * Math.PI * x) * Math.sin(Math.PI * y)
    })
  }
  const start = noise()
  const scale = norm(start)
  let products = 0 // on the finest level

  /** Damped Jacobi steps on a level. */
  function smooth({ A, diagonal }, x, b, steps) {
    for (let k = 0; k < steps; k++) {
      const product = A.multiply(x)
      for (let i = 0; i < x.length; i++) x[i] += DAMPING * (b[i] - product[i]) / diagonal
      if (A === levels[0].A) products++
    }
  }

  const down = [], up = []
  levels.forEach(({ n }, k) => {
    down[k] = captioned(picture(n, `Level ${k}, going down`), '', 'node')
    up[k] = k < levels.length - 1 ? captioned(picture(n, `Level ${k}, going up`), '', 'node up') : null
  })
  const words = element('p', { class: 'words', 'aria-live': 'polite' })
  const against = captioned(picture(SIZES[0], 'The error of Jacobi iterations'), '', 'against')
  const before = captioned(picture(SIZES[0], 'The error at the start'), '', 'before')

  function paint(figure, error, range, text) {
    figure.querySelector('canvas').paint(error, host.theme, range)
    figure.caption.textContent = text
  }
  const share = (part) => (part >= 0.01 ? (100 * part).toPrecision(3) : (100 * part).toExponential(1)) + ' %'

  let x, steps, painted, running = false, wait = 0

  /** The steps of a cycle as a list of functions; each computes and paints one picture. */
  function plan() {
    const state = levels.map(({ n }) => ({ x: new Float64Array(n * n), b: new Float64Array(n * n), exact: null }))
    state[0].x = x
    const list = []
    const errorOf = (k) => (k === 0 ? state[0].x.map((value) => -value) : state[k].exact.map((value, i) => value - state[k].x[i]))
    const show = (k, figure, text) => {
      const error = errorOf(k)
      const range = (state[k].range ??= Math.max(...error.map(Math.abs)))
      const { n } = levels[k]
      keep(() => paint(figure, error, range, `${n} x ${n}`))
      words.textContent = text + (k === 0 ? ` The error is ${share(norm(error) / scale)} of the start.` : '')
    }
    for (let k = 0; k < levels.length - 1; k++) {
      list.push(async () => {
        if (k > 0) {
          const fine = state[k - 1], product = levels[k - 1].A.multiply(fine.x)
          if (k === 1) products++
          state[k].b = restrict(fine.b.map((value, i) => value - product[i]), levels[k - 1].n)
          state[k].exact = (await levels[k].A.solve(state[k].b, { rtol: 1e-9, method: 'cg', preconditioner: 'none' })).x
          state[k].range = Math.max(...state[k].exact.map(Math.abs))
        }
        smooth(levels[k], state[k].x, state[k].b, SMOOTHING)
        show(k, down[k], `Down, level ${k}: ${SMOOTHING} steps of damped Jacobi make the error smooth. `
          + (k < levels.length - 2 ? 'The next coarser grid sees it as rough again.' : ''))
      })
    }
    list.push(async () => {
      const k = levels.length - 1, fine = state[k - 1], product = levels[k - 1].A.multiply(fine.x)
      state[k].b = restrict(fine.b.map((value, i) => value - product[i]), levels[k - 1].n)
      state[k].x = (await last.A.solve(state[k].b, { rtol: 1e-9, method: 'cg', preconditioner: 'none' })).x
      state[k].exact = state[k].x
      const solved = state[k].x, range = Math.max(...solved.map(Math.abs))
      keep(() => paint(down[k], solved, range, `${last.n} x ${last.n}`))
      words.textContent = `The coarsest level has ${last.n ** 2} unknowns and is solved. The picture is its solution.`
    })
    for (let k = levels.length - 2; k >= 0; k--) {
      list.push(async () => {
        prolongAndAdd(state[k + 1].x, levels[k + 1].n, state[k].x)
        smooth(levels[k], state[k].x, state[k].b, SMOOTHING)
        show(k, up[k], `Up, level ${k}: the correction of the coarser level is interpolated and added, then smoothed.`)
        if (k === 0) compare()
      })
    }
    return list
  }

  /** Jacobi's method with the work of the cycles: their products on the finest level, and a third of them for the others. */
  function compare() {
    const other = start.slice()
    const before = products, used = Math.ceil(products * 4 / 3)
    smooth(levels[0], other, new Float64Array(other.length), used)
    products = before
    const range = Math.max(...start.map(Math.abs))
    const error = other.map((value) => -value)
    keep(() => paint(against, error, range, `${used} Jacobi steps, the same work: ${share(norm(error) / scale)} are left`))
  }

  function keep(action) {
    painted.push(action)
    action()
  }

  function restart() {
    x = start.slice()
    products = 0
    painted = []
    steps = plan()
    for (const figure of [...down, ...up, against]) {
      if (!figure) continue
      const canvas = figure.querySelector('canvas')
      canvas.paint(new Float64Array(canvas.width ** 2), host.theme, 1)
      figure.caption.textContent = ''
    }
    keep(() => paint(before, start, Math.max(...start.map(Math.abs)), 'The error at the start'))
    words.textContent = 'An error with all wavelengths. Run the cycle, or take it step by step.'
  }

  async function step() {
    if (!steps.length) steps = plan() // another cycle, from the x of the last one
    await steps.shift()()
    if (!steps.length) setRunning(false)
  }

  function setRunning(state) {
    running = state
    play.set(state)
    play.setIcon(state ? 'pause' : 'play')
  }

  let busy = false
  const once = async () => {
    if (busy) return
    busy = true
    try {
      await step()
    } catch (error) {
      host.fail(error)
      setRunning(false)
    }
    busy = false
  }
  const play = button({ icon: 'play', label: 'V-cycle', title: 'Run a cycle', pressed: false, onClick: setRunning })
  const made = element('div', { class: 'figure' },
    element('div', { class: 'row' }, play, button({ icon: 'step', title: 'One step', onClick: once }),
      button({ icon: 'reset', title: 'Start again', onClick: () => { if (!busy) restart() } })),
    element('div', { class: 'cycle' }, before,
      ...down.map((figure, k) => {
        figure.style.setProperty('--level', k)
        figure.style.setProperty('--column', k + 1)
        return figure
      }),
      ...up.slice(0, -1).reverse().map((figure, i) => {
        figure.style.setProperty('--level', levels.length - 2 - i)
        figure.style.setProperty('--column', levels.length + 1 + i)
        return figure
      }), against), words)
  restart()
  return { element: made, setRunning, repaint: () => painted.forEach((action) => action()),
    tick: () => { if (running && ++wait % 4 === 0) once() },
    free: () => levels.forEach(({ A }) => A.dispose()) }
}
