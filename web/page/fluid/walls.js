// Walls as a picture: one byte for each point, 255 where the fluid is solid, row 0 below.

const SIDE = 384 // points along the side of a square of the same area
const UNDO = 20 // states

export class Walls {
  width = SIDE
  height = SIDE
  data = new Uint8Array(SIDE * SIDE)
  changed = false
  #undo = []

  get isEmpty() { return !this.data.some((value) => value > 127) }

  /** Follows the shape of the domain; the walls stretch with it. */
  resize(aspect) {
    const width = Math.max(16, Math.round(SIDE * Math.sqrt(aspect))), height = Math.max(16, Math.round(SIDE / Math.sqrt(aspect)))
    if (this.width === width && this.height === height) return
    const data = new Uint8Array(width * height)
    for (let j = 0; j < height; j++)
      for (let i = 0; i < width; i++) data[j * width + i] = this.at((i + 0.5) / width, (j + 0.5) / height)
    Object.assign(this, { width, height, data })
    this.#undo = []
    this.changed = true
  }

  /** The value at a place, from 0 to 1 in both directions. */
  at(x, y) {
    return this.data[Math.min(this.height - 1, Math.floor(y * this.height)) * this.width + Math.min(this.width - 1, Math.floor(x * this.width))]
  }

  /** A stroke between places from 0 to 1, y up; radius in units of the height. */
  stroke(from, to, radius, erase) {
    const { width, height, data } = this
    const [ax, ay, bx, by] = [from[0] * width, from[1] * height, to[0] * width, to[1] * height]
    const r = radius * height, dx = bx - ax, dy = by - ay, length = Math.max(dx * dx + dy * dy, 1e-9)
    const first = (a, b) => Math.max(0, Math.floor(Math.min(a, b) - r - 1))
    const last = (a, b, size) => Math.min(size - 1, Math.ceil(Math.max(a, b) + r + 1))
    for (let j = first(ay, by); j <= last(ay, by, height); j++)
      for (let i = first(ax, bx); i <= last(ax, bx, width); i++) {
        const x = i + 0.5 - ax, y = j + 0.5 - ay
        const t = Math.min(1, Math.max(0, (x * dx + y * dy) / length))
        const cover = 255 * Math.min(1, Math.max(0, r - Math.hypot(x - t * dx, y - t * dy) + 0.5))
        const at = j * width + i
        data[at] = erase ? Math.min(data[at], 255 - cover) : Math.max(data[at], cover)
      }
    this.changed = true
  }

  disc(centre, radius) { this.stroke(centre, centre, radius, false) }

  /** Keeps the state for undo(). */
  remember() {
    this.#undo.push(this.data.slice())
    if (this.#undo.length > UNDO) this.#undo.shift()
  }

  undo() {
    const last = this.#undo.pop()
    if (!last) return
    this.data = last
    this.changed = true
  }

  clear() {
    this.data.fill(0)
    this.changed = true
  }
}
