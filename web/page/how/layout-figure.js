// Figure 1: a mesh, its matrix, and both as textures. A row under the pointer is shown in all of them.

import { element } from '../controls.js'
import { mesh } from './problems.js'

const COLUMNS = 9, ROWS = 7
const SIDE = 4 // texels of a rectangle's side, small so that the figure has several
const ACROSS = 24 // texels of the segments' texture in a row

function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

/** Rows by descending number of entries, in rectangles of SIDE x SIDE texels, four to a row of rectangles. */
function layOut({ neighbours }) {
  const order = neighbours.map((_, row) => row).sort((a, b) => neighbours[b].length - neighbours[a].length || a - b)
  const texels = []
  order.forEach((row, k) => {
    const rectangle = Math.floor(k / SIDE ** 2), inside = k % SIDE ** 2
    texels[row] = [rectangle % 2 * SIDE + inside % SIDE, Math.floor(rectangle / 2) * SIDE + Math.floor(inside / SIDE), rectangle]
  })
  const starts = []
  let next = 0
  for (const row of order) {
    starts[row] = next
    next += neighbours[row].length
  }
  return { order, texels, starts, entries: next, rectangles: Math.ceil(order.length / SIDE ** 2) }
}

export function layoutFigure() {
  const problem = mesh(COLUMNS, ROWS)
  const layout = layOut(problem)
  const { neighbours, vertices, edges } = problem
  const count = neighbours.length
  const hueOf = (row) => `r${layout.texels[row][2]}`
  const marks = Array.from({ length: count }, () => []) // elements of each row
  const mark = (row, made) => {
    made.dataset.row = row
    marks[row].push(made)
    return made
  }

  const drawing = svg('svg', { viewBox: `-0.4 -0.4 ${COLUMNS - 0.2} ${ROWS - 0.2}` },
    ...edges.map(([a, b]) => svg('line', { class: 'edge', x1: vertices[a][0], y1: vertices[a][1], x2: vertices[b][0], y2: vertices[b][1] })),
    ...vertices.map(([cx, cy], row) => mark(row, svg('circle', { class: hueOf(row), cx, cy, r: 0.2 }))))

  const cell = (x, y, kind) => svg('rect', { class: kind, x: x + 0.04, y: y + 0.04, width: 0.92, height: 0.92, rx: 0.12 })
  const matrix = svg('svg', { viewBox: `-1 -1 ${count + 2} ${count + 2}` }, svg('rect', { class: 'sheet', width: count, height: count }))
  neighbours.forEach((list, row) => {
    matrix.append(mark(row, cell(row, row, 'diagonal')))
    for (const column of list) matrix.append(mark(row, cell(column, row, hueOf(row))))
  })

  const tall = 2 * SIDE
  const x = svg('svg', { viewBox: `-0.3 -0.3 ${tall + 0.6} ${tall + 0.6}` })
  vertices.forEach((_, row) => x.append(mark(row, cell(layout.texels[row][0], layout.texels[row][1], hueOf(row)))))
  for (let k = 0; k < layout.rectangles; k++)
    x.append(svg('rect', { class: 'frame', x: k % 2 * SIDE, y: Math.floor(k / 2) * SIDE, width: SIDE, height: SIDE }))

  const high = Math.ceil(layout.entries / ACROSS)
  const segments = svg('svg', { viewBox: `-0.3 -0.3 ${ACROSS + 0.6} ${high + 0.6}` })
  for (const row of layout.order) {
    for (let at = layout.starts[row]; at < layout.starts[row] + neighbours[row].length; at++)
      segments.append(mark(row, cell(at % ACROSS, Math.floor(at / ACROSS), hueOf(row))))
  }

  const words = element('p', { class: 'words', 'aria-live': 'polite' })
  const show = (row) => {
    made.querySelectorAll('.on, .read').forEach((other) => other.classList.remove('on', 'read'))
    marks[row].forEach((other) => other.classList.add('on'))
    for (const column of neighbours[row]) {
      for (const other of marks[column]) {
        if (other.ownerSVGElement === x || other.ownerSVGElement === drawing) other.classList.add('read')
      }
    }
    const [i, j, rectangle] = layout.texels[row]
    const length = neighbours[row].length
    words.replaceChildren(element('b', {}, `Row ${row}`), ` has ${length} entries off the diagonal: a segment of ${length} texels. `
      + `The fragment at texel (${i}, ${j}) of rectangle ${rectangle} loops over the segment. Each texel holds a value and a `
      + 'pointer to a texel of x.')
  }
  const panes = [[drawing, 'A mesh: each vertex is an unknown'], [matrix, 'Its matrix: an entry for each edge, and the diagonal'],
    [segments, 'Texture of the matrix: the entries of a row are a segment'], [x, 'Texture of the vector: rows of similar length share a rectangle']]
  const made = element('div', { class: 'figure panes' },
    ...panes.map(([content, text]) => element('figure', {}, content, element('figcaption', {}, text))), words)
  const pick = (event) => {
    const row = event.target.closest?.('[data-row]')?.dataset.row
    if (row !== undefined) show(+row)
  }
  made.addEventListener('pointerover', pick)
  made.addEventListener('pointerdown', pick)
  made.tabIndex = 0
  let current = 30
  made.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (!step) return
    current = (current + step + count) % count
    show(current)
    event.preventDefault()
  })
  show(current)
  return made
}
