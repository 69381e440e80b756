// A time step: contacts, the problem of the contact laws, its solution by the library, motion.
//
// The scheme is that of Moreau and Jean. Velocities v and impulses z are those at the ends of steps of length h:
//
//   v_free = v + h g,   v' = v_free + M0^-1 H^T z,   u = H v',   (u, z) obey Signorini's and Coulomb's laws
//
// where H takes velocities of bodies to relative velocities of contacts, the normal row of a contact first. A body may
// approach until the gap is closed, so max(gap, 0) / h is added to the normal velocity. Overlap is removed by
// displacements alone, which do not change velocities.
import { collide, sweep } from './collide.js'
import { contains, locate, makeBody } from './bodies.js'

export const STEP = 1 / 60
const GRAVITY = 9.81,
  FASTEST = 40 // m/s
const SLOP = 0.002,
  SHARE = 0.35,
  PASSES = 8 // overlap that stays, and how the rest is removed
const STIFFNESS = 160,
  DAMPING = 24,
  TURNING = 4 // of a grip
const MOST_BALLS = 60
const LIMIT = 80 // m: a body beyond is removed

export class World {
  time = 0
  contacts = []
  grips = new Map()
  parameters = { friction: 0.5, isWarm: true, tolerance: 1e-4, sweeps: 300 }
  version = 0 // counts changes of the list of bodies
  #order = []
  #reactions = new Map()
  #number = 0
  #balls = 0

  constructor({ bodies, friction }) {
    this.bodies = []
    this.parameters.friction = friction
    for (const body of bodies) this.add(body)
  }

  add(body) {
    body.id = this.#number++
    this.bodies.push(body)
    if (body.mass) this.#order.push(body)
    this.version++
    return body
  }

  remove(body) {
    this.bodies.splice(this.bodies.indexOf(body), 1)
    this.#order.splice(this.#order.indexOf(body), 1)
    for (const [id, grip] of this.grips) if (grip.body === body) this.grips.delete(id)
    this.version++
  }

  // ---- Grips ----

  /** Pointers that are down: { id, x, y, makesBall }. A new one takes the body there, or a new ball. */
  point(pointers) {
    for (const id of this.grips.keys()) if (!pointers.some((p) => p.id === id)) this.grips.delete(id)
    for (const { id, x, y, reach } of pointers) {
      if (!this.grips.has(id)) this.#take(id, x, y, reach)
      Object.assign(this.grips.get(id) ?? {}, { x, y })
    }
  }

  #take(id, x, y, reach) {
    let body = this.#order.find((b) => contains(b, x, y)) ?? this.#nearest(x, y, reach)
    if (!body && y > 0 && this.#balls < MOST_BALLS) {
      body = this.add(makeBody({ radius: 0.3, x, y: Math.max(y, 0.3), density: 2000, hue: -1 }))
      this.#balls++
    }
    if (!body) return
    const dx = x - body.x,
      dy = y - body.y,
      c = Math.cos(body.angle),
      s = Math.sin(body.angle)
    this.grips.set(id, { body, px: c * dx + s * dy, py: -s * dx + c * dy, x, y })
  }

  /** The nearest body within `reach` of its surface's circle: fingers are wide. */
  #nearest(x, y, reach) {
    let best = null,
      least = reach
    for (const body of this.#order) {
      const apart = Math.hypot(x - body.x, y - body.y) - body.radius
      if (apart < least) {
        least = apart
        best = body
      }
    }
    return best
  }

  /** A spring from the grip to the pointer, by an implicit step, critically damped for the whole mass. */
  #pull({ body, px, py, x, y }) {
    const c = Math.cos(body.angle),
      s = Math.sin(body.angle),
      ax = c * px - s * py,
      ay = s * px + c * py
    const vx = body.vx - body.spin * ay,
      vy = body.vy + body.spin * ax
    const share = (body.mass * STEP) / (1 + STEP * DAMPING + STEP * STEP * STIFFNESS)
    const ix = share * (STIFFNESS * (x - body.x - ax - STEP * vx) - DAMPING * vx)
    const iy = share * (STIFFNESS * (y - body.y - ay - STEP * vy) - DAMPING * vy)
    body.vx += ix * body.inverseMass
    body.vy += iy * body.inverseMass
    body.spin = (body.spin + body.inverseInertia * (ax * iy - ay * ix)) / (1 + TURNING * STEP)
  }

  // ---- Contacts ----

  findContacts() {
    const contacts = (this.contacts = [])
    const add = (a, b, x, y, nx, ny, gap, feature) => {
      const key = (a.id * 65536 + b.id) * 128 + feature,
        before = this.parameters.isWarm ? this.#reactions.get(key) : undefined
      contacts.push({ a, b, x, y, nx, ny, gap, key, normal: before?.normal ?? 0, tangent: before?.tangent ?? 0 })
    }
    sweep(this.bodies, this.#order, 0.02, (a, b) => {
      if (a.id > b.id) [a, b] = [b, a]
      const margin = 0.01 + STEP * Math.min(FASTEST, Math.hypot(a.vx - b.vx, a.vy - b.vy))
      collide(a, b, Math.min(margin, 0.3), add)
    })
  }

  #remember() {
    this.#reactions = new Map(this.contacts.map((c) => [c.key, c]))
  }

  // ---- The problem ----

  /** H, M0^-1, q, z and mu, with masses relative to their mean. */
  assemble() {
    const moving = this.#order,
      { contacts } = this,
      rows = 2 * contacts.length
    const mass = moving.reduce((sum, b) => sum + b.mass, 0) / Math.max(1, moving.length)
    const inverseMass = new Float64Array(3 * moving.length)
    moving.forEach((body, k) => {
      body.slot = 3 * k
      inverseMass.set([mass * body.inverseMass, mass * body.inverseMass, mass * body.inverseInertia], 3 * k)
    })
    const rowOffsets = new Int32Array(rows + 1),
      columnIndices = new Int32Array(6 * rows),
      values = new Float64Array(6 * rows)
    const q = new Float64Array(rows),
      z = new Float64Array(rows),
      friction = new Float64Array(contacts.length).fill(this.parameters.friction)
    let entry = 0
    const put = (body, sign, dx, dy, c) => {
      if (!body.mass) return 0
      const turn = (c.x - body.x) * dy - (c.y - body.y) * dx
      for (let i = 0; i < 3; i++) columnIndices[entry + i] = body.slot + i
      values[entry] = sign * dx
      values[entry + 1] = sign * dy
      values[entry + 2] = sign * turn
      entry += 3
      return sign * (dx * body.vx + dy * body.vy + turn * body.spin)
    }
    contacts.forEach((c, k) => {
      for (let axis = 0; axis < 2; axis++) {
        const row = 2 * k + axis,
          dx = axis ? -c.ny : c.nx,
          dy = axis ? c.nx : c.ny
        q[row] =
          c.a.slot < c.b.slot
            ? put(c.a, 1, dx, dy, c) + put(c.b, -1, dx, dy, c)
            : put(c.b, -1, dx, dy, c) + put(c.a, 1, dx, dy, c)
        rowOffsets[row + 1] = entry
      }
      q[2 * k] += Math.max(c.gap, 0) / STEP
      z[2 * k] = c.normal / mass
      z[2 * k + 1] = c.tangent / mass
    })
    const jacobian = {
      rows,
      columns: 3 * moving.length,
      rowOffsets,
      columnIndices: columnIndices.slice(0, entry),
      values: values.slice(0, entry)
    }
    return { mass, jacobian, inverseMass, q, z, friction }
  }

  apply(z, mass) {
    this.contacts.forEach((c, k) => {
      c.normal = mass * z[2 * k]
      c.tangent = mass * z[2 * k + 1]
      const ix = c.normal * c.nx - c.tangent * c.ny,
        iy = c.normal * c.ny + c.tangent * c.nx
      for (const [body, sign] of [
        [c.a, 1],
        [c.b, -1]
      ]) {
        body.vx += sign * ix * body.inverseMass
        body.vy += sign * iy * body.inverseMass
        body.spin += sign * body.inverseInertia * ((c.x - body.x) * iy - (c.y - body.y) * ix)
      }
    })
  }

  /** Displacements that remove overlap, by a few sweeps. */
  #separate() {
    const deep = this.contacts
      .filter(({ gap }) => gap < -SLOP)
      .map((c) => {
        const arm = (body) => (c.x - body.x) * c.ny - (c.y - body.y) * c.nx,
          ra = arm(c.a),
          rb = arm(c.b)
        const weight = c.a.inverseMass + c.b.inverseMass + c.a.inverseInertia * ra * ra + c.b.inverseInertia * rb * rb
        return { ...c, ra, rb, weight, push: 0 }
      })
    if (!deep.length) return
    for (const body of this.#order) body.shift = [0, 0, 0]
    const still = [0, 0, 0],
      of = (body) => body.shift ?? still
    for (let pass = 0; pass < PASSES; pass++)
      for (const d of deep) {
        const p = of(d.a),
          q = of(d.b),
          now = d.nx * (p[0] - q[0]) + d.ny * (p[1] - q[1]) + d.ra * p[2] - d.rb * q[2]
        const push = Math.max(0, d.push + (-SHARE * (d.gap + SLOP) - now) / d.weight),
          change = push - d.push
        d.push = push
        for (const [body, s, sign, arm] of [
          [d.a, p, 1, d.ra],
          [d.b, q, -1, d.rb]
        ]) {
          if (!body.mass) continue
          s[0] += sign * change * d.nx * body.inverseMass
          s[1] += sign * change * d.ny * body.inverseMass
          s[2] += sign * change * arm * body.inverseInertia
        }
      }
    for (const body of this.#order) {
      body.x += body.shift[0]
      body.y += body.shift[1]
      body.angle += body.shift[2]
    }
  }

  // ---- A step ----

  /** solve(problem) returns { x, residual, sweeps, seconds, converged }. Returns the figures of the step. */
  async step(solve) {
    const begin = performance.now(),
      figures = { contacts: 0, sweeps: 0, residual: 0, converged: true, solve: 0 }
    this.findContacts()
    for (const body of this.#order) body.vy -= STEP * GRAVITY
    for (const grip of this.grips.values()) this.#pull(grip)
    if (this.contacts.length) {
      const problem = this.assemble(),
        asked = performance.now(),
        found = await solve(problem, this.parameters)
      figures.solve = performance.now() - asked
      Object.assign(figures, {
        contacts: this.contacts.length,
        sweeps: found.sweeps,
        residual: found.residual,
        converged: found.converged
      })
      this.apply(found.x, problem.mass)
    }
    this.#remember()
    this.#separate()
    this.#move()
    this.time += STEP
    figures.step = performance.now() - begin
    return figures
  }

  #move() {
    for (const body of [...this.#order]) {
      const speed = Math.hypot(body.vx, body.vy),
        slow = speed > FASTEST ? FASTEST / speed : 1
      body.vx *= slow
      body.vy *= slow
      body.x += STEP * body.vx
      body.y += STEP * body.vy
      body.angle += STEP * body.spin
      if (Math.abs(body.x) > LIMIT || body.y < -20 || !Number.isFinite(body.x + body.y + body.angle)) this.remove(body)
      else locate(body)
    }
  }

  get energy() {
    return this.#order.reduce(
      (sum, b) =>
        sum + b.mass * GRAVITY * b.y + 0.5 * b.mass * (b.vx ** 2 + b.vy ** 2) + (0.5 * b.spin ** 2) / b.inverseInertia,
      0
    )
  }
}
