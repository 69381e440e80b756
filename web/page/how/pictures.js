// Fields as pictures: blue below zero, orange above.

import { element } from '../controls.js'

const ends = { dark: { low: [64, 176, 255], zero: [14, 17, 24], high: [255, 150, 70] },
  light: { low: [3, 105, 168], zero: [255, 255, 252], high: [205, 85, 10] } }

/** A canvas that shows n x n values, row 0 below. paint(values, theme, range): range is the value of the full colour,
 * by default the largest magnitude. */
export function picture(n, label) {
  const canvas = element('canvas', { class: 'field', width: n, height: n, role: 'img', 'aria-label': label })
  const pen = canvas.getContext('2d')
  canvas.paint = (values, theme, range = 0) => {
    const { low, zero, high } = ends[theme]
    const image = pen.createImageData(n, n)
    if (!range) for (const value of values) range = Math.max(range, Math.abs(value))
    for (let j = 0; j < n; j++)
      for (let i = 0; i < n; i++) {
        const value = range ? values[j * n + i] / range : 0
        const weight = Math.min(1, Math.abs(value)) ** 0.6
        const end = value < 0 ? low : high
        const at = 4 * ((n - 1 - j) * n + i)
        for (let k = 0; k < 3; k++) image.data[at + k] = zero[k] + weight * (end[k] - zero[k])
        image.data[at + 3] = 255
      }
    pen.putImageData(image, 0, 0)
  }
  return canvas
}

/** A figure with a caption. */
export function captioned(content, text, kind = '') {
  const caption = element('figcaption', {}, text)
  const made = element('figure', { class: kind }, content, caption)
  made.caption = caption
  return made
}
