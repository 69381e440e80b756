// Walls as a picture: strokes on a canvas, opaque where the fluid is solid.

const ROWS = 384

export class Walls {
  changed = false
  isEmpty = true
  #undo = []

  constructor() {
    this.canvas = document.createElement('canvas')
    this.brush = this.canvas.getContext('2d', { willReadFrequently: true })
    this.canvas.width = this.canvas.height = ROWS
  }

  /** Follows the shape of the domain; the walls stretch with it. */
  resize(aspect) {
    const width = Math.max(16, Math.round(ROWS * Math.sqrt(aspect))), height = Math.max(16, Math.round(ROWS / Math.sqrt(aspect)))
    if (this.canvas.width === width && this.canvas.height === height) return
    const copy = document.createElement('canvas')
    copy.width = this.canvas.width
    copy.height = this.canvas.height
    copy.getContext('2d').drawImage(this.canvas, 0, 0)
    this.canvas.width = width
    this.canvas.height = height
    this.brush.drawImage(copy, 0, 0, width, height)
    this.changed = true
  }

  /** A stroke between points in units of the domain (0 to 1, y up); radius in units of its height. */
  stroke(from, to, radius, erase) {
    const { brush, canvas } = this
    const x = (point) => point[0] * canvas.width, y = (point) => (1 - point[1]) * canvas.height
    brush.globalCompositeOperation = erase ? 'destination-out' : 'source-over'
    brush.lineCap = brush.lineJoin = 'round'
    brush.lineWidth = 2 * radius * canvas.height
    brush.beginPath()
    brush.moveTo(x(from), y(from))
    brush.lineTo(x(to) + 0.01, y(to))
    brush.stroke()
    this.changed = true
    if (!erase) this.isEmpty = false
  }

  disc(centre, radius) { this.stroke(centre, centre, radius, false) }

  /** Keeps the state for undo(). */
  remember() {
    this.#undo.push(this.brush.getImageData(0, 0, this.canvas.width, this.canvas.height))
    if (this.#undo.length > 20) this.#undo.shift()
  }

  undo() {
    const last = this.#undo.pop()
    if (!last) return
    this.brush.clearRect(0, 0, this.canvas.width, this.canvas.height)
    this.brush.putImageData(last, 0, 0)
    this.changed = true
  }

  clear() {
    this.brush.clearRect(0, 0, this.canvas.width, this.canvas.height)
    this.isEmpty = true
    this.changed = true
  }
}
