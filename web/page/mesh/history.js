// States that can be taken back. The oldest are forgotten when they need too much memory.

const MOST_STATES = 40

export class History {
  #states = []
  #bytes
  #most

  /** sizeOf(state): its bytes. */
  constructor(sizeOf, mostBytes = 300e6) {
    this.sizeOf = sizeOf
    this.#most = mostBytes
    this.#bytes = 0
  }

  get length() {
    return this.#states.length
  }

  push(state) {
    this.#states.push(state)
    this.#bytes += this.sizeOf(state)
    while (this.#states.length > 1 && (this.#bytes > this.#most || this.#states.length > MOST_STATES))
      this.#bytes -= this.sizeOf(this.#states.shift())
  }

  pop() {
    const state = this.#states.pop()
    if (state) this.#bytes -= this.sizeOf(state)
    return state
  }

  clear() {
    this.#states = []
    this.#bytes = 0
  }
}
