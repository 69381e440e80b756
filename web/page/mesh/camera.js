// A camera that turns around the origin, driven by pointers, wheel and keys.

const NEAR = 0.05,
  FAR = 60,
  FIELD = 0.6 // tangent of half the angle

export class Camera {
  yaw = 0.5
  pitch = 0.32
  distance = 2.15
  shift = [0, 0]

  reset() {
    Object.assign(this, new Camera())
  }

  turn(dx, dy) {
    this.yaw += dx
    this.pitch = Math.min(1.55, Math.max(-1.55, this.pitch + dy))
  }

  zoom(factor) {
    this.distance = Math.min(25, Math.max(0.25, this.distance * factor))
  }

  move(dx, dy) {
    this.shift[0] += dx * this.distance * FIELD
    this.shift[1] += dy * this.distance * FIELD
  }

  /** Column by column. */
  view() {
    const c = Math.cos(this.yaw),
      s = Math.sin(this.yaw),
      C = Math.cos(this.pitch),
      S = Math.sin(this.pitch)
    return new Float32Array([
      c,
      s * S,
      -s * C,
      0,
      0,
      C,
      S,
      0,
      s,
      -c * S,
      c * C,
      0,
      this.shift[0],
      this.shift[1],
      -this.distance,
      1
    ])
  }

  projection(aspect) {
    const f = 1 / FIELD,
      wide = Math.max(1, 1 / aspect) // a narrow view sees as much in its width
    const x = f / aspect / wide,
      y = f / wide
    return new Float32Array([
      x,
      0,
      0,
      0,
      0,
      y,
      0,
      0,
      0,
      0,
      (FAR + NEAR) / (NEAR - FAR),
      -1,
      0,
      0,
      (2 * FAR * NEAR) / (NEAR - FAR),
      0
    ])
  }
}

/** The map's camera: the square 0..1, moved and scaled. */
export class FlatCamera {
  centre = [0.5, 0.5]
  scale = 1

  reset() {
    Object.assign(this, new FlatCamera())
  }

  zoom(factor) {
    this.scale = Math.min(200, Math.max(0.3, this.scale / factor))
  }

  move(dx, dy) {
    this.centre[0] -= dx / this.scale
    this.centre[1] -= dy / this.scale
  }

  projection(aspect) {
    const k = 1.84 * this.scale,
      x = aspect > 1 ? k / aspect : k,
      y = aspect > 1 ? k : k * aspect
    return new Float32Array([x, 0, 0, 0, 0, y, 0, 0, 0, 0, 1, 0, -x * this.centre[0], -y * this.centre[1], 0, 1])
  }
}

/** Drives what paneAt(x, y) returns, { turn?, move, zoom(factor), size }, with one and two pointers and the wheel. */
export function drive(element, { paneAt, signal, onChange }) {
  const pointers = new Map()
  let pane = null
  const place = (event) => {
    const box = element.getBoundingClientRect()
    return { x: event.clientX - box.left, y: event.clientY - box.top }
  }
  const pair = () => {
    const [a, b] = [...pointers.values()]
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.hypot(a.x - b.x, a.y - b.y) }
  }
  const listen = (name, action) => element.addEventListener(name, action, { signal, passive: false })
  listen('pointerdown', (event) => {
    if (event.button > 2) return
    element.setPointerCapture(event.pointerId)
    if (!pointers.size) pane = paneAt(place(event))
    pointers.set(event.pointerId, place(event))
  })
  listen('pointermove', (event) => {
    const old = pointers.get(event.pointerId)
    if (!old || !pane) return
    const now = place(event),
      before = pointers.size > 1 ? pair() : null
    pointers.set(event.pointerId, now)
    const dx = (now.x - old.x) / pane.size,
      dy = (now.y - old.y) / pane.size
    if (before) {
      const after = pair()
      if (before.apart > 4 && after.apart > 4) pane.zoom(before.apart / after.apart)
      pane.move((2 * (after.x - before.x)) / pane.size, (-2 * (after.y - before.y)) / pane.size)
    } else if (pane.turn && event.buttons !== 2 && !event.shiftKey) pane.turn(5 * dx, 5 * dy)
    else pane.move(2 * dx, -2 * dy)
    onChange()
  })
  for (const name of ['pointerup', 'pointercancel']) listen(name, (event) => pointers.delete(event.pointerId))
  listen('contextmenu', (event) => event.preventDefault())
  listen('wheel', (event) => {
    event.preventDefault()
    paneAt(place(event)).zoom(Math.exp(Math.max(-0.5, Math.min(0.5, event.deltaY * 0.0015))))
    onChange()
  })
}
