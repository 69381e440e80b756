// Rigid bodies of the plane: discs and convex polygons. Metres, kilograms, seconds; y points up.

const MOST_SIDES = 8 // a feature of a contact has 3 bits for a side

/** A body at (x, y), turned by `angle`. points: corners around its centre of mass, counterclockwise, or none for a disc.
 * density 0: it does not move. */
export function makeBody({ points = null, radius = 0, x, y, angle = 0, density, hue = 0 }) {
  const sides = points?.length ?? 0
  if (sides > MOST_SIDES) throw new RangeError(`a body has ${sides} sides, expected at most ${MOST_SIDES}`)
  const body = {
    points: points && Float64Array.from(points.flat()),
    sides,
    radius,
    x,
    y,
    angle,
    vx: 0,
    vy: 0,
    spin: 0,
    hue,
    at: new Float64Array(2 * sides),
    normals: new Float64Array(2 * sides),
    low: [0, 0],
    high: [0, 0],
    inverseMass: 0,
    inverseInertia: 0,
    mass: 0,
    slot: -1
  }
  if (points) body.radius = Math.max(...points.map(([px, py]) => Math.hypot(px, py)))
  if (density > 0) weigh(body, density)
  locate(body)
  return body
}

function weigh(body, density) {
  let area = Math.PI * body.radius ** 2,
    inertia = (area * body.radius ** 2) / 2
  if (body.points) {
    area = inertia = 0
    for (let k = 0; k < body.sides; k++) {
      const [ax, ay, bx, by] = side(body.points, k, body.sides),
        cross = ax * by - ay * bx
      area += cross / 2
      inertia += (cross * (ax * ax + ax * bx + bx * bx + ay * ay + ay * by + by * by)) / 12
    }
  }
  body.mass = density * area
  body.inverseMass = 1 / body.mass
  body.inverseInertia = 1 / (density * inertia)
}

function side(points, k, sides) {
  const next = (k + 1) % sides
  return [points[2 * k], points[2 * k + 1], points[2 * next], points[2 * next + 1]]
}

/** Corners of a polygon moved so that (0, 0) is its centre of mass. Returns them and that centre. */
export function centred(points) {
  let area = 0,
    x = 0,
    y = 0
  points.forEach(([ax, ay], k) => {
    const [bx, by] = points[(k + 1) % points.length],
      cross = ax * by - ay * bx
    area += cross
    x += (cross * (ax + bx)) / 3
    y += (cross * (ay + by)) / 3
  })
  return { points: points.map(([px, py]) => [px - x / area, py - y / area]), x: x / area, y: y / area }
}

export const boxPoints = (halfWidth, halfHeight) => [
  [-halfWidth, -halfHeight],
  [halfWidth, -halfHeight],
  [halfWidth, halfHeight],
  [-halfWidth, halfHeight]
]

export const regularPoints = (sides, radius) =>
  Array.from({ length: sides }, (_, k) => [
    radius * Math.cos((2 * Math.PI * k) / sides),
    radius * Math.sin((2 * Math.PI * k) / sides)
  ])

/** Computes corners, outward normals and bounds in the world. */
export function locate(body) {
  const c = Math.cos(body.angle),
    s = Math.sin(body.angle),
    { at, normals, points, sides, low, high } = body
  if (!points) {
    low[0] = body.x - body.radius
    low[1] = body.y - body.radius
    high[0] = body.x + body.radius
    high[1] = body.y + body.radius
    return
  }
  low[0] = low[1] = Infinity
  high[0] = high[1] = -Infinity
  for (let k = 0; k < sides; k++) {
    const x = (at[2 * k] = body.x + c * points[2 * k] - s * points[2 * k + 1])
    const y = (at[2 * k + 1] = body.y + s * points[2 * k] + c * points[2 * k + 1])
    low[0] = Math.min(low[0], x)
    low[1] = Math.min(low[1], y)
    high[0] = Math.max(high[0], x)
    high[1] = Math.max(high[1], y)
  }
  for (let k = 0; k < sides; k++) {
    const [ax, ay, bx, by] = side(at, k, sides),
      length = Math.hypot(bx - ax, by - ay)
    normals[2 * k] = (by - ay) / length
    normals[2 * k + 1] = (ax - bx) / length
  }
}

export function contains(body, x, y) {
  if (!body.points) return Math.hypot(x - body.x, y - body.y) <= body.radius
  for (let k = 0; k < body.sides; k++)
    if ((x - body.at[2 * k]) * body.normals[2 * k] + (y - body.at[2 * k + 1]) * body.normals[2 * k + 1] > 0) return false
  return true
}
