// The part "how it works": three figures that compute, and short texts with the names of the papers.

import { element } from '../controls.js'
import { layoutFigure } from './layout-figure.js'
import { iterateFigure } from './iterate-figure.js'
import { cycleFigure } from './cycle-figure.js'

const TICK_MS = 90

export async function start(host) {
  const section = (title, text, figure, sources) => element('section', {}, element('h2', {}, title),
    ...text.map((line) => element('p', {}, line)), figure, element('p', { class: 'dim small' }, sources))
  const holder = (text) => element('div', { class: 'figure waiting' }, element('p', { class: 'dim' }, text))
  const second = holder('The library is loading.'), third = holder('The library is loading.')
  const article = element('article', { class: 'how' },
    element('h2', { class: 'title' }, 'How it works'),
    element('p', { class: 'lead' }, 'A fragment shader computes the colour of a pixel. If the pixels are the numbers of a vector, '
      + 'drawing a rectangle multiplies a matrix by a vector. Everything on this page is computed this way, on any GPU '
      + 'that a browser can use.'),
    section('1. A sparse matrix is a texture', [
      'Most entries of the matrix are zero, and only the others are stored. Rows are sorted by their number of entries and '
      + 'packed in rectangles: the GPU draws a rectangle with one loop length, so no pixel waits for a longer row.'],
    layoutFigure(), 'Bolz, Farmer, Grinspun and Schröder 2003, Sparse matrix solvers on the GPU: conjugate gradients and '
      + 'multigrid. Rectangles of 4 x 4 here; the library chooses larger ones for your device. Buatois, Caumon and Lévy 2008 '
      + 'store blocks, Cevahir, Nukada and Matsuoka 2009 jagged diagonals.'),
    section('2. A solver is a loop of draws', [
      'Two charges make a field: Poisson\'s equation, 3969 unknowns. An iteration of conjugate gradients is a product, two '
      + 'dot products and three updates of vectors. The dot products stay on the GPU. Jacobi\'s method needs one product and '
      + 'goes nowhere: information moves by one cell in an iteration, and the smooth part of the error decays slowest.'],
    second, 'Hestenes and Stiefel 1952, Methods of conjugate gradients for solving linear systems. Krüger and Westermann 2003, '
      + 'Linear algebra operators for GPU implementation of numerical algorithms.'),
    section('3. Multigrid solves on all scales', [
      'What is smooth on a fine grid is rough on a coarse one. A V-cycle smooths the error, hands the remainder to a grid of '
      + 'half the resolution, and adds the correction that comes back. The fluid of this page makes two such cycles in each '
      + 'step. Each cycle divides the error by about eight, for any number of cells.'],
    third, 'Brandt 1977, Multi-level adaptive solutions to boundary-value problems. Bolz et al. 2003. Algebraic multigrid does '
      + 'the same for any matrix: see the part Matrix. Stam 1999, Stable fluids, is the method of the fluid.'))
  host.element.append(article)

  const figures = []
  const end = host.signal
  const ts = await host.open()
  if (end.aborted) return {}
  const add = (place, figure) => {
    place.replaceWith(figure.element)
    figures.push(figure)
    new IntersectionObserver(([entry], observer) => {
      if (!entry.isIntersecting) return
      observer.disconnect()
      figure.setRunning(true)
    }, { threshold: 0.3 }).observe(figure.element)
  }
  const iterate = iterateFigure(host, ts)
  add(second, iterate)
  iterate.show()
  add(third, await cycleFigure(host, ts))

  let last = 0
  const tick = (now) => {
    if (end.aborted) return
    requestAnimationFrame(tick)
    if (document.hidden || host.gl?.isContextLost() || now - last < TICK_MS) return
    last = now
    try {
      figures.forEach((figure) => figure.tick())
    } catch (error) {
      if (error.code === 'busy') return // the other figure's solve: next time
      figures.forEach((figure) => figure.setRunning(false))
      if (error.code !== 'context-lost') host.fail(error)
    }
  }
  requestAnimationFrame(tick)
  return {
    theme: () => {
      iterate.show()
      figures[1]?.repaint()
    },
    stop: () => { if (!host.gl?.isContextLost()) figures.forEach((figure) => figure.free()) }
  }
}
