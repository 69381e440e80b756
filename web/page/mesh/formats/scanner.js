// Words and numbers of a text file, read from its bytes: a string per line of a large file would cost more than the
// parser. Errors name the line.

export class MeshFileError extends Error {
  constructor(message, line = 0) {
    super(line ? `line ${line}: ${message}` : message)
    this.name = 'MeshFileError'
    this.line = line
  }
}

const NEWLINE = 10,
  RETURN = 13,
  SPACE = 32,
  TAB = 9,
  HASH = 35,
  PLUS = 43,
  MINUS = 45,
  DOT = 46,
  ZERO = 48,
  NINE = 57
const POWERS = Array.from({ length: 23 }, (_, k) => Number(`1e${k}`)) // exactly representable
const decoder = new TextDecoder('latin1')

const isBlank = (c) => c === SPACE || c === TAB
const isEnd = (c) => c === NEWLINE || c === RETURN

export class Scanner {
  constructor(bytes, at = 0, line = 1) {
    this.bytes = bytes
    this.at = at
    this.line = line
  }

  fail(message) {
    throw new MeshFileError(message, this.line)
  }

  get done() {
    return this.at >= this.bytes.length
  }

  // Moves to the first word of this line. Returns whether there is one. A comment ends the line.
  hasWord() {
    const { bytes } = this
    while (this.at < bytes.length && isBlank(bytes[this.at])) this.at++
    return this.at < bytes.length && !isEnd(bytes[this.at]) && bytes[this.at] !== HASH
  }

  nextLine() {
    const { bytes } = this
    while (this.at < bytes.length && !isEnd(bytes[this.at])) this.at++
    if (bytes[this.at] === RETURN) this.at++
    if (bytes[this.at] === NEWLINE) this.at++
    this.line++
  }

  // Moves to the next line that has a word. Returns false at the end of the file.
  nextWordLine() {
    while (!this.done) {
      if (this.hasWord()) return true
      this.nextLine()
    }
    return false
  }

  // The end of the word at the current position.
  wordEnd() {
    const { bytes } = this
    let end = this.at
    while (end < bytes.length && !isBlank(bytes[end]) && !isEnd(bytes[end])) end++
    return end
  }

  word() {
    if (!this.hasWord()) return ''
    const begin = this.at
    this.at = this.wordEnd()
    return decoder.decode(this.bytes.subarray(begin, this.at))
  }

  // The rest of the line, without blanks at its ends.
  rest() {
    const { bytes } = this
    let end = this.at
    while (end < bytes.length && !isEnd(bytes[end])) end++
    const text = decoder.decode(bytes.subarray(this.at, end)).trim()
    this.at = end
    return text
  }

  number(what) {
    if (!this.hasWord()) this.fail(`${what} is missing`)
    const begin = this.at
    const value = this.plainNumber()
    if (value === value) return value
    this.at = begin
    const text = this.word()
    const found = Number(text)
    if (!Number.isFinite(found)) this.fail(`${what} is "${text.slice(0, 40)}", expected a finite number`)
    return found
  }

  integer(what) {
    if (!this.hasWord()) this.fail(`${what} is missing`)
    const text = this.word()
    const found = Number(text)
    if (!Number.isInteger(found)) this.fail(`${what} is "${text.slice(0, 40)}", expected a whole number`)
    return found
  }

  // Reads a decimal number of up to 15 digits; they and the power of ten are exact, so that the quotient is rounded
  // once. Returns NaN for everything else.
  plainNumber() {
    const { bytes } = this
    let at = this.at,
      digits = 0,
      mantissa = 0,
      decimals = 0,
      negative = false
    if (bytes[at] === MINUS || bytes[at] === PLUS) negative = bytes[at++] === MINUS
    for (; bytes[at] >= ZERO && bytes[at] <= NINE; at++, digits++) mantissa = 10 * mantissa + bytes[at] - ZERO
    if (bytes[at] === DOT)
      for (at++; bytes[at] >= ZERO && bytes[at] <= NINE; at++, digits++, decimals++)
        mantissa = 10 * mantissa + bytes[at] - ZERO
    const ends = at >= bytes.length || isBlank(bytes[at]) || isEnd(bytes[at])
    if (!ends || digits === 0 || digits > 15) return NaN
    this.at = at
    const value = decimals ? mantissa / POWERS[decimals] : mantissa
    return negative ? -value : value
  }
}

// A growing typed array.
export class Growing {
  constructor(Type, capacity = 4096) {
    this.data = new Type(capacity)
    this.length = 0
  }

  push(value) {
    if (this.length === this.data.length) {
      const larger = new this.data.constructor(2 * this.data.length)
      larger.set(this.data)
      this.data = larger
    }
    this.data[this.length++] = value
  }

  finish() {
    return this.data.slice(0, this.length)
  }
}

// Adds a polygon as a fan of triangles around its first corner.
export function pushPolygon(triangles, corners, count) {
  for (let k = 2; k < count; k++) {
    triangles.push(corners[0])
    triangles.push(corners[k - 1])
    triangles.push(corners[k])
  }
}
