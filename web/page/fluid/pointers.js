// Fingers and mouse: each pointer pushes the fluid, draws walls or erases them.

/** Listens on `view` until the signal is aborted. toDomain(clientX, clientY) gives metres. Calls of `act`:
 * push(pointer), wall(from, to, erase), and begin() at the first contact. */
export class Pointers {
  active = new Map()
  tool = 'push' // 'push', 'wall' or 'erase'

  constructor(view, signal, toDomain, act) {
    this.toDomain = toDomain
    this.act = act
    const on = (name, take) => view.addEventListener(name, take, { signal })
    on('pointerdown', (event) => this.#down(event, view))
    on('pointermove', (event) => this.#move(event))
    for (const name of ['pointerup', 'pointercancel', 'lostpointercapture']) on(name, (event) => this.#up(event))
    on('contextmenu', (event) => event.preventDefault())
  }

  #down(event, view) {
    if (event.target.closest('button, input')) return
    try {
      view.setPointerCapture(event.pointerId)
    } catch { /* the pointer has gone already */ }
    const at = this.toDomain(event.clientX, event.clientY)
    const tool = event.button === 2 ? (event.shiftKey ? 'erase' : 'wall') : event.button === 1 ? 'erase' : this.tool
    this.active.set(event.pointerId, { id: event.pointerId, tool, at, from: at, moved: false, pressed: true, phase: Math.random() })
    this.act.begin()
    if (tool !== 'push') this.act.wall(at, at, tool === 'erase')
    event.preventDefault()
  }

  #move(event) {
    const pointer = this.active.get(event.pointerId)
    if (!pointer) return
    const to = this.toDomain(event.clientX, event.clientY)
    if (pointer.tool !== 'push') this.act.wall(pointer.at, to, pointer.tool === 'erase')
    pointer.at = to
    pointer.moved = true
  }

  #up(event) { this.active.delete(event.pointerId) }

  /** For each pointer that pushes: push(pointer) with the line since the last frame, from `from` to `at`. */
  frame() {
    for (const pointer of this.active.values()) {
      if (pointer.tool === 'push') this.act.push(pointer)
      pointer.from = pointer.at
      pointer.moved = false
    }
  }
}
