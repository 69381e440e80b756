// Figures and a picture of a sparse matrix.

const MOST = 512 // squares of the picture in each direction

/** Compressed rows of triplets, with columns in order and repeated entries added. */
export function toRows({ rows, columns, triplets: { rows: row, columns: column, values } }) {
  const byColumn = order(column, columns), offsets = new Int32Array(rows + 1)
  const rowsInOrder = byColumn.map((e) => row[e]), sorted = order(rowsInOrder, rows)
  const columnIndices = new Int32Array(values.length), sums = new Float64Array(values.length)
  let length = 0, at = -1
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
  return { rows, columns, rowOffsets: offsets, columnIndices: columnIndices.slice(0, length), values: sums.slice(0, length) }
}

/** The order of keys 0 to count - 1, by a stable counting sort. */
function order(keys, count) {
  const start = new Int32Array(count + 1), sorted = new Int32Array(keys.length)
  for (const key of keys) start[key + 1]++
  for (let k = 0; k < count; k++) start[k + 1] += start[k]
  keys.forEach((key, e) => { sorted[start[key]++] = e })
  return sorted
}

/** Entries in each square of a picture, row by row from the top. */
export function countSquares({ rowOffsets, columnIndices, rows, columns }) {
  const largest = Math.max(rows, columns), scale = Math.min(1, MOST / largest)
  const height = Math.max(1, Math.round(rows * scale)), width = Math.max(1, Math.round(columns * scale)), counts = new Uint32Array(width * height)
  for (let i = 0; i < rows; i++) {
    const at = Math.min(height - 1, Math.floor((i * height) / rows)) * width
    for (let e = rowOffsets[i]; e < rowOffsets[i + 1]; e++) counts[at + Math.min(width - 1, Math.floor((columnIndices[e] * width) / columns))]++
  }
  return { width, height, counts }
}

/** Lengths of rows, bandwidth, and the range of the values. */
export function describe({ rowOffsets, columnIndices, values, rows }) {
  let shortest = Infinity, longest = 0, bandwidth = 0, least = Infinity, most = 0
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
  let sum = 0, norm = 0
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

/** Draws the picture: a pixel or more for a square, brighter with more entries. */
export function drawStructure(canvas, { width, height, counts, rows, columns }, { ink, paper }) {
  const pen = canvas.getContext('2d'), most = counts.reduce((a, b) => Math.max(a, b), 1)
  const cells = (rows / height) * (columns / width), full = Math.max(1, Math.min(most, cells))
  canvas.width = width
  canvas.height = height
  const picture = pen.createImageData(width, height)
  counts.forEach((count, k) => {
    const t = count ? 0.4 + 0.6 * Math.sqrt(Math.min(1, Math.log1p(count) / Math.log1p(full))) : 0
    for (let c = 0; c < 3; c++) picture.data[4 * k + c] = paper[c] + t * (ink[c] - paper[c])
    picture.data[4 * k + 3] = 255
  })
  pen.putImageData(picture, 0, 0)
}

/** An answer as a Matrix Market file. */
export function writeVector(x, comment) {
  const BLOCK = 1 << 16, parts = [`%%MatrixMarket matrix array real general\n%${comment}\n${x.length} 1\n`]
  for (let k = 0; k < x.length; k += BLOCK) parts.push(`${[...x.subarray(k, k + BLOCK)].join('\n')}\n`)
  return new Blob(parts, { type: 'text/plain' })
}
