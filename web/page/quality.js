// A level that follows the time of a frame: down soon, up with care.

const HIGHEST = 4
const SLOW = 1000 / 45 // ms: longer frames lower the level
const FAST = 1000 / 57 // ms: a level rises if frames are this short
const FRAMES = 20 // frames between decisions,
const FEW = 4 // or this number,
const LONG = 300 // if they take this many ms
const SECONDS_UP = 4 // between rises; doubles each time a level that rose has to fall again

export class Quality {
  level = 2
  lastMedian = 0 // ms, of the last frames
  mode = 'auto' // or a number, the fixed level; ?quality=0 in the page's address sets it
  onChange = () => {}
  #times = []
  #fast = 0 // seconds of fast frames
  #wait = SECONDS_UP
  #rose = false

  constructor() {
    const wanted = new URLSearchParams(location.search).get('quality')
    if (wanted !== null && /^[0-4]$/.test(wanted)) this.mode = this.level = Number(wanted)
  }

  reset() {
    this.#times = []
    this.#fast = 0
  }

  /** Sets the mode: 'auto', or a level from 0 to 4. */
  set(mode) {
    this.mode = mode
    this.reset()
    if (mode !== 'auto') this.#change(mode)
  }

  /** Takes the time of a frame in ms. */
  frame(ms) {
    if (ms > 3000) return // a file dialog
    this.#times.push(ms)
    const total = this.#times.reduce((sum, time) => sum + time, 0)
    if (this.#times.length < FRAMES && (this.#times.length < FEW || total < LONG)) return
    const median = this.#times.toSorted((a, b) => a - b)[this.#times.length >> 1]
    this.lastMedian = median
    const seconds = total / 1000
    this.#times = []
    if (this.mode !== 'auto') return
    if (median > SLOW && this.level > 0) {
      if (this.#rose) this.#wait = Math.min(this.#wait * 2, 600)
      this.#rose = false
      this.#fast = 0
      this.#change(Math.max(0, this.level - (median > 3 * SLOW ? 2 : 1)))
    } else if (median < FAST) {
      this.#fast += seconds
      if (this.#fast < this.#wait || this.level === HIGHEST) return
      this.#fast = 0
      this.#rose = true
      this.#change(this.level + 1)
    }
  }

  #change(level) {
    if (level === this.level) return
    this.level = level
    this.onChange(level)
  }
}
