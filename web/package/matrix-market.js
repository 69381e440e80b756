// Reads Matrix Market files from bytes, piece by piece: a file may be larger than a string can be.
import { TexsolveError, invalid, shown } from './errors.js'

const most = 2 ** 31 - 1
const powers = Float64Array.from({ length: 23 }, (_, k) => Number(`1e${k}`))
const decoder = new TextDecoder()
const [newline, space, tab, carriage, percent, dot, minus, plus, zero, nine] = [10, 32, 9, 13, 37, 46, 45, 43, 48, 57]

function isBlank(byte) {
  return byte === space || byte === tab || byte === carriage
}

/** One line of a file at a time; a line may span pieces. */
class Lines {
  constructor(receive) {
    this.receive = receive
    this.rest = new Uint8Array(0)
    this.number = 0
  }

  add(piece) {
    let bytes = piece
    if (this.rest.length) {
      if (this.rest.length > 65536) throw this.error('the line is longer than 65536 bytes', 1)
      bytes = new Uint8Array(this.rest.length + piece.length)
      bytes.set(this.rest)
      bytes.set(piece, this.rest.length)
    }
    let begin = 0
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, begin)) {
      this.number++
      this.receive(bytes, begin, end)
      begin = end + 1
    }
    this.rest = bytes.slice(begin)
  }

  finish() {
    if (!this.rest.length) return
    this.number++
    this.receive(this.rest, 0, this.rest.length)
  }

  error(message, ahead = 0) {
    return new TexsolveError('invalid-file', `line ${Math.max(this.number + ahead, 1)}: ${message}`)
  }
}

/** Reads the words of a line as numbers. */
class Words {
  set(bytes, begin, end) {
    this.bytes = bytes
    this.at = begin
    this.end = end
    this.skip()
  }

  skip() {
    while (this.at < this.end && isBlank(this.bytes[this.at])) this.at++
  }

  get isEmpty() {
    return this.at >= this.end
  }

  /** The next word as text. */
  text() {
    const begin = this.at
    while (this.at < this.end && !isBlank(this.bytes[this.at])) this.at++
    const found = decoder.decode(this.bytes.subarray(begin, this.at))
    this.skip()
    return found
  }

  /** The next word as a number; NaN if it is none. Decimal digits without rounding are read here, others by Number. */
  number() {
    const { bytes, end } = this
    const begin = this.at
    let at = begin, digits = 0, mantissa = 0, exponent = 0, isNegative = false
    if (bytes[at] === minus || bytes[at] === plus) isNegative = bytes[at++] === minus
    for (; at < end && bytes[at] >= zero && bytes[at] <= nine; at++, digits++) mantissa = 10 * mantissa + bytes[at] - zero
    if (at < end && bytes[at] === dot) {
      for (at++; at < end && bytes[at] >= zero && bytes[at] <= nine; at++, digits++, exponent--) mantissa = 10 * mantissa + bytes[at] - zero
    }
    if (at < end && (bytes[at] | 32) === 101 && digits) { // e
      let power = 0, isSmall = false
      at++
      if (bytes[at] === minus || bytes[at] === plus) isSmall = bytes[at++] === minus
      const first = at
      for (; at < end && bytes[at] >= zero && bytes[at] <= nine; at++) power = 10 * power + bytes[at] - zero
      if (at === first) digits = 0
      exponent += isSmall ? -power : power
    }
    if (!digits || (at < end && !isBlank(bytes[at])) || mantissa > 2 ** 53 || exponent < -22 || exponent > 22) {
      const text = this.text()
      return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : /^[+-]?(inf|infinity)$/i.test(text) ? Infinity : NaN
    }
    this.at = at
    this.skip()
    const value = exponent < 0 ? mantissa / powers[-exponent] : mantissa * powers[exponent]
    return isNegative ? -value : value
  }
}

/** A typed array that grows to the size that the file has, not to the one that it announces. */
class List {
  constructor(Type, expected) {
    this.Type = Type
    this.array = this.make(Math.min(Math.max(expected, 16), 1 << 20))
    this.count = 0
  }

  #allocate(length, make) {
    try {
      return make()
    } catch (error) {
      throw new TexsolveError('out-of-memory', `there is no memory for ${length} entries`, { cause: error })
    }
  }

  make(length) {
    return this.#allocate(length, () => new this.Type(length))
  }

  push(value) {
    if (this.count === this.array.length) {
      const larger = this.make(2 * this.count)
      larger.set(this.array)
      this.array = larger
    }
    this.array[this.count++] = value
  }

  get used() {
    if (this.count === this.array.length) return this.array
    return this.#allocate(this.count, () => this.array.slice(0, this.count))
  }
}

class Reader {
  constructor() {
    this.words = new Words()
    this.lines = new Lines((bytes, begin, end) => this.line(bytes, begin, end))
    this.comments = []
    this.state = this.banner
    this.read = 0
  }

  error(message) {
    return this.lines.error(message)
  }

  line(bytes, begin, end) {
    this.words.set(bytes, begin, end)
    this.state(bytes, begin, end)
  }

  banner() {
    const { words } = this
    const text = []
    while (!words.isEmpty && text.length < 6) text.push(words.text().toLowerCase())
    const [mark, object, format, field, symmetry = 'general'] = text
    if (mark !== '%%matrixmarket') throw this.error(`the file begins with ${shown(mark ?? '')}; expected "%%MatrixMarket"`)
    const check = (name, value, known) => {
      if (!known.includes(value)) throw this.error(`the ${name} is ${shown(value ?? '')}; it must be one of ${known.join(', ')}`)
    }
    check('object', object, ['matrix', 'vector'])
    check('format', format, ['coordinate', 'array'])
    check('field', field, ['real', 'double', 'integer', 'pattern'])
    check('symmetry', symmetry, ['general', 'symmetric', 'skew-symmetric'])
    if (field === 'pattern' && format === 'array') throw this.error('a dense file cannot have the field pattern')
    Object.assign(this, { format, field, symmetry })
    this.state = this.head
  }

  head(bytes, begin, end) {
    const { words } = this
    if (words.isEmpty) return
    if (bytes[begin] === percent) {
      if (this.comments.length < 100) this.comments.push(decoder.decode(bytes.subarray(begin + 1, end)).trim())
      return
    }
    const expected = this.format === 'array' ? 2 : 3
    const sizes = []
    while (!words.isEmpty && sizes.length < 4) sizes.push(words.number())
    if (sizes.length !== expected || !sizes.every(size => Number.isInteger(size) && size >= 0))
      throw this.error(`expected ${expected} sizes: ${expected === 2 ? 'rows and columns' : 'rows, columns and entries'}`)
    const [rows, columns, entries] = sizes
    if (rows < 1 || columns < 1) throw this.error(`the matrix is ${rows} x ${columns}; it must have rows and columns`)
    if (rows > most || columns > most) throw this.error(`the matrix is ${rows} x ${columns}; at most ${most} rows and columns are possible`)
    const isSymmetric = this.symmetry !== 'general'
    if (isSymmetric && rows !== columns) throw this.error(`a ${this.symmetry} matrix is ${rows} x ${columns}; it must be square`)
    Object.assign(this, { rows, columns, isSymmetric })
    if (this.format === 'array') {
      this.expected = !isSymmetric ? rows * columns : this.symmetry === 'symmetric' ? rows * (rows + 1) / 2 : rows * (rows - 1) / 2
      this.values = new List(Float64Array, this.expected)
      this.state = this.number
    } else {
      this.expected = entries
      const room = isSymmetric ? 2 * entries : entries
      this.row = new List(Int32Array, room)
      this.column = new List(Int32Array, room)
      this.values = new List(Float64Array, room)
      this.state = this.entry
    }
  }

  checkValue(value) {
    if (!(Math.abs(value) < Infinity)) throw this.error('the value is not a finite number')
    return value
  }

  entry(bytes, begin) {
    const { words } = this
    if (words.isEmpty || bytes[begin] === percent) return
    if (this.read === this.expected) throw this.error(`the file has more than the ${this.expected} entries that it announces`)
    const i = words.number(), j = words.isEmpty ? NaN : words.number()
    if (!Number.isInteger(i) || !Number.isInteger(j)) throw this.error('expected a row and a column')
    if (i < 1 || i > this.rows) throw this.error(`the row is ${i}; it must be 1 to ${this.rows}`)
    if (j < 1 || j > this.columns) throw this.error(`the column is ${j}; it must be 1 to ${this.columns}`)
    const value = this.field === 'pattern' ? 1 : this.checkValue(words.isEmpty ? NaN : words.number())
    if (!words.isEmpty) throw this.error('the line has more than a row, a column and a value')
    this.read++
    this.push(i - 1, j - 1, value)
    if (this.isSymmetric && i !== j) this.push(j - 1, i - 1, this.symmetry === 'symmetric' ? value : -value)
  }

  push(i, j, value) {
    this.row.push(i)
    this.column.push(j)
    this.values.push(value)
  }

  number(bytes, begin) {
    const { words } = this
    if (words.isEmpty || bytes[begin] === percent) return
    while (!words.isEmpty) {
      if (this.read === this.expected) throw this.error(`the file has more than the ${this.expected} numbers that it announces`)
      this.values.push(this.checkValue(words.number()))
      this.read++
    }
  }

  /** The dense matrix, row by row: the file has it column by column. */
  dense() {
    const { rows, columns, symmetry, values: { array } } = this
    const found = new Float64Array(rows * columns)
    let at = 0
    for (let j = 0; j < columns; j++) {
      for (let i = symmetry === 'general' ? 0 : symmetry === 'symmetric' ? j : j + 1; i < rows; i++) {
        const value = array[at++]
        found[i * columns + j] = value
        if (symmetry !== 'general' && i !== j) found[j * columns + i] = symmetry === 'symmetric' ? value : -value
      }
    }
    return found
  }

  finish() {
    this.lines.finish()
    if (this.state === this.banner) throw this.error('the file is empty')
    if (this.state === this.head) throw this.error('the file ends before its sizes')
    if (this.read < this.expected) throw this.error(`the file ends after ${this.read} of ${this.expected} entries`)
    const { rows, columns, field, symmetry, comments, read } = this
    const found = { rows, columns, field, symmetry, comments, entries: read }
    if (this.format === 'array') return { ...found, array: this.dense() }
    return { ...found, triplets: { rows: this.row.used, columns: this.column.used, values: this.values.used } }
  }
}

const pieceSize = 1 << 20

/** The bytes of a source in pieces, with a pause now and then. */
async function* piecesOf(source) {
  if (typeof source === 'string') {
    const encoder = new TextEncoder()
    for (let at = 0; at < source.length; at += pieceSize) yield encoder.encode(source.slice(at, at + pieceSize))
  } else if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    const bytes = ArrayBuffer.isView(source) ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength) : new Uint8Array(source)
    for (let at = 0; at < bytes.length; at += pieceSize) yield bytes.subarray(at, at + pieceSize)
  } else {
    const stream = typeof source?.stream === 'function' ? source.stream() : source?.body ?? source
    if (typeof stream?.getReader !== 'function')
      throw invalid(`the source is ${shown(source)}; it must be a string, bytes, a Blob, a Response or a ReadableStream of bytes`)
    const reader = stream.getReader()
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
    } finally {
      reader.cancel().catch(() => {})
    }
  }
}

/** Reads a file: its sizes, and { triplets } of a sparse or { array } of a dense matrix, row by row. */
export async function readMatrixMarket(source, { signal, onProgress } = {}) {
  const reader = new Reader()
  let bytes = 0, paused = performance.now()
  for await (const piece of piecesOf(source)) {
    if (signal?.aborted) throw new TexsolveError('aborted', 'the call was aborted by its signal', { cause: signal.reason })
    reader.lines.add(piece)
    bytes += piece.length
    onProgress?.({ bytes, entries: reader.read, expected: reader.expected ?? 0 })
    if (performance.now() - paused > 12) {
      await new Promise(resolve => setTimeout(resolve))
      paused = performance.now()
    }
  }
  return reader.finish()
}
