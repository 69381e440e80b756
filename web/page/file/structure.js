// Figures and a picture of a sparse matrix.

const MOST = 512 // squares of the picture in each direction
const LEAST = 24 // rows of a window

/** Compressed rows of triplets, with columns in order and repeated entries added. */
export function toRows({ rows, columns, triplets: { rows: row, columns: column, values } }) {
  const byColumn = order(column, columns),
    offsets = new Int32Array(rows + 1)
  const rowsInOrder = byColumn.map((e) => row[e]),
    sorted = order(rowsInOrder, rows)
  const columnIndices = new Int32Array(values.length),
    sums = new Float64Array(values.length)
  let length = 0,
    at = -1
  for (let k = 0; k < sorted.length; k++) {
    const e = byColumn[sorted[k]]
    if (row[e] === at && column[e] === columnIndices[length - 1]) {
      sums[length - 1] += values[e]
      continue
    }
    at = row[e]
    columnIndices[length] = column[e]
    sums[length++] = values[e]
    offsets[at + 1] = length
  }
  for (let i = 0; i < rows; i++) offsets[i + 1] = Math.max(offsets[i + 1], offsets[i])
  return {
    rows,
    columns,
    rowOffsets: offsets,
    columnIndices: columnIndices.slice(0, length),
    values: sums.slice(0, length)
  }
}

/** The order of keys 0 to count - 1, by a stable counting sort. */
function order(keys, count) {
  const start = new Int32Array(count + 1),
    sorted = new Int32Array(keys.length)
  for (const key of keys) start[key + 1]++
  for (let k = 0; k < count; k++) start[k + 1] += start[k]
  keys.forEach((key, e) => {
    sorted[start[key]++] = e
  })
  return sorted
}

/** The window of the whole matrix. */
export const wholeOf = ({ rows, columns }) => ({ top: 0, left: 0, height: rows, width: columns })

/** A window that shows `factor` times as much around a place, as far as the matrix and LEAST allow. */
export function zoomed({ rows, columns }, { top, left, height, width }, factor, x, y) {
  const resize = (first, size, all, at) => {
    const next = Math.round(Math.min(all, Math.max(Math.min(all, LEAST), size * factor)))
    return [Math.round(Math.min(all - next, Math.max(0, first + at * size - next / 2))), next]
  }
  const [newTop, newHeight] = resize(top, height, rows, y),
    [newLeft, newWidth] = resize(left, width, columns, x)
  return { top: newTop, left: newLeft, height: newHeight, width: newWidth }
}

/** Entries in each square of a picture of a window, row by row from the top. If each entry has a square of its own,
 * `signs` has the signs of the values. */
export function countSquares({ rowOffsets, columnIndices, values }, window) {
  const { top, left } = window,
    scale = Math.min(1, MOST / Math.max(window.height, window.width))
  const height = Math.max(1, Math.round(window.height * scale)),
    width = Math.max(1, Math.round(window.width * scale))
  const counts = new Uint32Array(width * height),
    signs = scale === 1 ? new Int8Array(width * height) : null
  for (let i = top; i < top + window.height; i++) {
    const at = Math.min(height - 1, Math.floor(((i - top) * height) / window.height)) * width
    for (let e = rowOffsets[i]; e < rowOffsets[i + 1]; e++) {
      const j = columnIndices[e] - left
      if (j < 0 || j >= window.width) continue
      const k = at + Math.min(width - 1, Math.floor((j * width) / window.width))
      counts[k]++
      if (signs) signs[k] = Math.sign(values[e])
    }
  }
  return { width, height, counts, signs, window }
}

/** Lengths of rows, bandwidth, and the range of the values. */
export function describe({ rowOffsets, columnIndices, values, rows }) {
  let shortest = Infinity,
    longest = 0,
    bandwidth = 0,
    least = Infinity,
    most = 0
  for (let i = 0; i < rows; i++) {
    const length = rowOffsets[i + 1] - rowOffsets[i]
    shortest = Math.min(shortest, length)
    longest = Math.max(longest, length)
    for (let e = rowOffsets[i]; e < rowOffsets[i + 1]; e++) {
      bandwidth = Math.max(bandwidth, Math.abs(columnIndices[e] - i))
      const size = Math.abs(values[e])
      if (size > 0) least = Math.min(least, size)
      most = Math.max(most, size)
    }
  }
  return { shortest, longest, bandwidth, least, most }
}

/** ||b - A x|| / ||b||, in double precision. */
export function residualOf({ rowOffsets, columnIndices, values, rows }, b, x) {
  let sum = 0,
    norm = 0
  for (let i = 0; i < rows; i++) {
    let r = b[i]
    for (let e = rowOffsets[i]; e < rowOffsets[i + 1]; e++) r -= values[e] * x[columnIndices[e]]
    sum += r * r
    norm += b[i] * b[i]
  }
  return Math.sqrt(sum / (norm || 1))
}

/** A x. */
export function multiply({ rowOffsets, columnIndices, values, rows }, x) {
  return Float64Array.from({ length: rows }, (_, i) => {
    let sum = 0
    for (let e = rowOffsets[i]; e < rowOffsets[i + 1]; e++) sum += values[e] * x[columnIndices[e]]
    return sum
  })
}

/** Draws the picture: a pixel for a square, brighter with more entries; negative entries in a colour of their own. */
export function drawStructure(canvas, { width, height, counts, signs, window }, { ink, negative, paper }) {
  const pen = canvas.getContext('2d'),
    most = counts.reduce((a, b) => Math.max(a, b), 1)
  const cells = (window.height / height) * (window.width / width),
    full = Math.max(1, Math.min(most, cells))
  canvas.width = width
  canvas.height = height
  const picture = pen.createImageData(width, height)
  counts.forEach((count, k) => {
    const t = count ? 0.4 + 0.6 * Math.sqrt(Math.min(1, Math.log1p(count) / Math.log1p(full))) : 0,
      colour = signs?.[k] < 0 ? negative : ink
    for (let c = 0; c < 3; c++) picture.data[4 * k + c] = paper[c] + t * (colour[c] - paper[c])
    picture.data[4 * k + 3] = 255
  })
  pen.putImageData(picture, 0, 0)
}

/** An answer as a Matrix Market file. */
export function writeVector(x, comment) {
  const BLOCK = 1 << 16,
    parts = [`%%MatrixMarket matrix array real general\n%${comment}\n${x.length} 1\n`]
  for (let k = 0; k < x.length; k += BLOCK) parts.push(`${[...x.subarray(k, k + BLOCK)].join('\n')}\n`)
  return new Blob(parts, { type: 'text/plain' })
}
