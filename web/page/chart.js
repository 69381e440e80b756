// A small line chart on a logarithmic scale.

import { element } from './controls.js'

const MARGIN = 4

/** series: [{ name, colour }] with CSS colours or variables ('--accent'). push([a, b, ...]) adds one value for each series;
 * the chart keeps the last `length` values. set(lists) replaces all. */
export function chart({ series, length = 60, label, height = 84 }) {
  const canvas = element('canvas', { class: 'chart', role: 'img', 'aria-label': label })
  canvas.style.height = height + 'px'
  let values = series.map(() => [])

  function draw() {
    const box = canvas.getBoundingClientRect()
    if (!box.width) return
    const ratio = devicePixelRatio || 1
    canvas.width = Math.round(box.width * ratio)
    canvas.height = Math.round(height * ratio)
    const pen = canvas.getContext('2d')
    const style = getComputedStyle(canvas)
    const colour = (name) => (name.startsWith('--') ? style.getPropertyValue(name).trim() : name)
    const all = values.flat().filter((value) => value > 0 && Number.isFinite(value)).map(Math.log10)
    if (!all.length) return
    const low = Math.floor(Math.min(...all) - 0.05), high = Math.max(low + 1, Math.ceil(Math.max(...all) + 0.05))
    const most = Math.max(...values.map((list) => list.length), 2)
    const left = 30
    const x = (i) => left + i / (most - 1) * (box.width - left - MARGIN)
    const y = (value) => MARGIN + (high - Math.log10(value)) / (high - low) * (height - 2 * MARGIN)
    pen.scale(ratio, ratio)
    pen.font = '10px system-ui, sans-serif'
    pen.textBaseline = 'middle'
    pen.strokeStyle = colour('--line')
    pen.fillStyle = colour('--dim')
    const every = Math.max(1, Math.ceil((high - low) / 5))
    for (let power = low; power <= high; power += every) {
      const at = Math.min(height - 7, Math.max(7, y(10 ** power)))
      pen.fillText(power === 0 ? '1' : `1e${power}`, 0, at)
      pen.beginPath()
      pen.moveTo(left, y(10 ** power))
      pen.lineTo(box.width, y(10 ** power))
      pen.stroke()
    }
    pen.lineWidth = 2
    pen.lineJoin = 'round'
    values.forEach((list, k) => {
      pen.strokeStyle = pen.fillStyle = colour(series[k].colour)
      pen.beginPath()
      list.forEach((value, i) => { if (value > 0) pen.lineTo(x(i), y(value)) })
      pen.stroke()
      const last = list.at(-1)
      if (last > 0) {
        pen.beginPath()
        pen.arc(x(list.length - 1), y(last), 3, 0, 7)
        pen.fill()
      }
    })
  }

  canvas.push = (row) => {
    values.forEach((list, k) => {
      list.push(row[k])
      if (list.length > length) list.shift()
    })
    draw()
  }
  canvas.set = (lists) => {
    values = lists
    draw()
  }
  canvas.redraw = draw
  return canvas
}
