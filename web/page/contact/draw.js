// The picture of the bodies, on a canvas of its own.

const THEMES = {
  dark: {
    sky: ['#0d1018', '#1b2233'],
    ground: '#2a3145',
    line: '#3d4763',
    edge: 'rgb(0 0 0 / .45)',
    force: '255 214 120',
    grip: '#5cc8ff',
    bad: '#ff6b6b',
    hues: ['#e8a15c', '#d97757', '#6fb1d6', '#8fc48a', '#c9a6df', '#e3c76f', '#7f93d9', '#5fbcae'],
    stones: ['#d2b48c', '#c49a6c', '#b98b5e', '#dcc39d'],
    iron: '#a9b4c9'
  },
  light: {
    sky: ['#fdfdfb', '#e4e6ea'],
    ground: '#c9ccd4',
    line: '#a4a9b6',
    edge: 'rgb(20 24 40 / .55)',
    force: '160 40 0',
    grip: '#0369a8',
    bad: '#c22727',
    hues: ['#e58b3a', '#cf5b3c', '#4d9bc9', '#6fae68', '#b186cf', '#d8b23f', '#6479cf', '#3fa797'],
    stones: ['#cba877', '#b98c59', '#a87848', '#d8bb8e'],
    iron: '#6d788c'
  }
}
const MOST_PIXELS = 3.5e6

export class Picture {
  canvas = document.createElement('canvas')
  showsForces = true
  #pen
  #paths = []
  #shapes = []
  #free = { width: 1, height: 1 }
  #view = { x: 0, y: 1, width: 6, height: 3 }
  zoom = 1

  /** isSoftware: the browser has no GPU, so that the canvas is drawn by the processor better than by WebGL's emulation. */
  constructor(theme, isSoftware) {
    this.theme = theme
    this.#pen = this.canvas.getContext('2d', { alpha: false, willReadFrequently: isSoftware })
    this.canvas.setAttribute('role', 'img')
    this.canvas.setAttribute('aria-label', 'Bodies in contact. Drag one to lift and throw it.')
  }

  setShapes(shapes) {
    this.#shapes = shapes
    this.#paths = shapes.map(({ points, radius }) => {
      const path = new Path2D()
      if (!points) path.arc(0, 0, radius, 0, 2 * Math.PI)
      for (let k = 0; points && k < points.length; k += 2) path.lineTo(points[k], points[k + 1])
      path.closePath()
      return path
    })
  }

  setView(view) {
    this.#view = view
    this.zoom = 1
  }

  resize(width, height, free) {
    this.ratio = Math.min(devicePixelRatio || 1, Math.sqrt(MOST_PIXELS / Math.max(width * height, 1)))
    this.canvas.width = Math.max(1, Math.round(width * this.ratio))
    this.canvas.height = Math.max(1, Math.round(height * this.ratio))
    this.#free = free
  }

  /** CSS pixels of a metre, and the place of the origin. */
  get #frame() {
    const { width, height } = this.#free,
      view = this.#view
    const scale = Math.min(width / view.width, (0.86 * height) / view.height) * this.zoom
    const ground = Math.min(0.3 * height, Math.max(0.12 * height, height / 2 - view.y * scale)) // the floor is always seen
    return { scale, x: width / 2 - view.x * scale, y: height - ground }
  }

  /** The place in the world of a place in CSS pixels. */
  worldAt(x, y) {
    const frame = this.#frame
    return { x: (x - frame.x) / frame.scale, y: (frame.y - y) / frame.scale, unit: 1 / frame.scale }
  }

  draw({ places, forces, held }, pointers) {
    const pen = this.#pen,
      colours = THEMES[this.theme],
      { scale, x, y } = this.#frame,
      r = this.ratio
    this.#backdrop(colours, y)
    const base = [r * scale, 0, 0, -r * scale, r * x, r * y]
    pen.lineJoin = 'round'
    for (let k = 0; k < this.#shapes.length && 3 * k < places.length; k++) this.#body(k, places, base, colours)
    pen.setTransform(...base)
    if (this.showsForces) this.#forces(forces, places, colours)
    this.#grips(held, places, pointers, colours, scale)
  }

  #backdrop(colours, floor) {
    const pen = this.#pen,
      { width, height } = this.canvas
    pen.setTransform(1, 0, 0, 1, 0, 0)
    const sky = pen.createLinearGradient(0, 0, 0, height)
    sky.addColorStop(0, colours.sky[0])
    sky.addColorStop(1, colours.sky[1])
    pen.fillStyle = sky
    pen.fillRect(0, 0, width, height)
    pen.fillStyle = colours.ground
    pen.fillRect(0, floor * this.ratio, width, height)
    pen.fillStyle = colours.line
    pen.fillRect(0, floor * this.ratio, width, Math.max(1, 1.5 * this.ratio))
  }

  #body(k, places, base, colours) {
    const pen = this.#pen,
      { hue, isFixed, points, radius } = this.#shapes[k],
      x = places[3 * k],
      y = places[3 * k + 1],
      angle = places[3 * k + 2]
    if (isFixed && y < 0) return // the floor
    const c = Math.cos(angle),
      s = Math.sin(angle),
      [a, , , d, e, f] = base
    pen.setTransform(a * c, d * s, -a * s, d * c, a * x + e, d * y + f)
    pen.fillStyle = isFixed
      ? colours.ground
      : hue < 0
        ? colours.iron
        : this.palette === 'stones'
          ? colours.stones[hue % 4]
          : colours.hues[hue % 8]
    pen.fill(this.#paths[k])
    pen.strokeStyle = isFixed ? colours.line : colours.edge
    pen.lineWidth = 0.022
    pen.stroke(this.#paths[k])
    if (points) return
    pen.beginPath() // shows how the disc turns
    pen.moveTo(0, 0)
    pen.lineTo(radius * 0.8, 0)
    pen.stroke()
  }

  // Lines from centre to centre through the contact, as wide as the force relative to the weights.
  #forces(forces, places, colours) {
    const pen = this.#pen
    let sum = 0,
      count = 0
    for (let k = 2; k < forces.length; k += 6) {
      sum += forces[k]
      count += forces[k] > 0 ? 1 : 0
    }
    const mean = sum / Math.max(count, 1)
    if (!(mean > 0)) return
    pen.lineCap = 'round'
    for (let k = 0; k < forces.length; k += 6) {
      const share = forces[k + 2] / mean
      if (share < 0.05) continue
      pen.lineWidth = Math.min(0.09, 0.02 * Math.sqrt(share) * (0.6 + 0.4 * share))
      pen.strokeStyle = `rgb(${colours.force} / ${Math.min(0.9, 0.2 + 0.22 * share)})`
      pen.beginPath()
      const a = forces[k + 4],
        b = forces[k + 5],
        isEnd = (i) => i >= 0 && !this.#shapes[i]?.isFixed
      if (isEnd(a)) pen.moveTo(places[3 * a], places[3 * a + 1])
      else pen.moveTo(forces[k], forces[k + 1])
      pen.lineTo(forces[k], forces[k + 1])
      if (isEnd(b)) pen.lineTo(places[3 * b], places[3 * b + 1])
      pen.stroke()
    }
  }

  #grips(held, places, pointers, colours, scale) {
    const pen = this.#pen
    pen.strokeStyle = pen.fillStyle = colours.grip
    pen.lineWidth = 2 / scale
    for (const { id, body, px, py } of held) {
      const to = pointers.find((p) => p.id === id)
      if (!to || body < 0) continue
      const c = Math.cos(places[3 * body + 2]),
        s = Math.sin(places[3 * body + 2])
      const x = places[3 * body] + c * px - s * py,
        y = places[3 * body + 1] + s * px + c * py
      pen.beginPath()
      pen.moveTo(x, y)
      pen.lineTo(to.x, to.y)
      pen.stroke()
      pen.beginPath()
      pen.arc(x, y, 4 / scale, 0, 7)
      pen.fill()
    }
  }
}
