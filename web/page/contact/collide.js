// Contacts between bodies. A contact has the bodies a and b, a point, the unit normal from b to a, the gap along it
// (negative if they overlap) and a feature, the same from step to step.

/** Pairs of bodies whose bounds come closer than `margin`, by a sweep along x. `order` is kept from step to step. */
export function sweep(bodies, order, margin, onPair) {
  for (let k = 1; k < order.length; k++) {
    const body = order[k]
    let i = k - 1
    for (; i >= 0 && order[i].low[0] > body.low[0]; i--) order[i + 1] = order[i]
    order[i + 1] = body
  }
  const fixed = bodies.filter((body) => !body.mass)
  for (let k = 0; k < order.length; k++) {
    const a = order[k]
    for (let i = k + 1; i < order.length && order[i].low[0] <= a.high[0] + margin; i++)
      if (overlaps(a, order[i], margin)) onPair(a, order[i])
    for (const b of fixed) if (overlaps(a, b, margin)) onPair(a, b)
  }
}

function overlaps(a, b, margin) {
  return (
    a.low[0] <= b.high[0] + margin &&
    b.low[0] <= a.high[0] + margin &&
    a.low[1] <= b.high[1] + margin &&
    b.low[1] <= a.high[1] + margin
  )
}

/** Adds the contacts of a pair with a gap below `margin` by onContact(a, b, x, y, nx, ny, gap, feature). */
export function collide(a, b, margin, onContact) {
  if (a.points && b.points) polygons(a, b, margin, onContact)
  else if (a.points)
    discAndPolygon(b, a, margin, (x, y, nx, ny, gap, feature) => onContact(a, b, x, y, -nx, -ny, gap, feature))
  else if (b.points)
    discAndPolygon(a, b, margin, (x, y, nx, ny, gap, feature) => onContact(a, b, x, y, nx, ny, gap, feature))
  else discs(a, b, margin, onContact)
}

function discs(a, b, margin, onContact) {
  const dx = a.x - b.x,
    dy = a.y - b.y,
    apart = Math.hypot(dx, dy),
    gap = apart - a.radius - b.radius
  if (gap > margin) return
  const nx = apart > 0 ? dx / apart : 0,
    ny = apart > 0 ? dy / apart : 1,
    reach = b.radius + gap / 2
  onContact(a, b, b.x + reach * nx, b.y + reach * ny, nx, ny, gap, 0)
}

/** The normal points from the polygon to the disc. */
function discAndPolygon(disc, polygon, margin, onContact) {
  const { at, normals, sides } = polygon
  let best = -Infinity,
    face = 0
  for (let k = 0; k < sides; k++) {
    const apart = (disc.x - at[2 * k]) * normals[2 * k] + (disc.y - at[2 * k + 1]) * normals[2 * k + 1]
    if (apart > best) {
      best = apart
      face = k
    }
  }
  if (best - disc.radius > margin) return
  const n = (face + 1) % sides,
    ax = at[2 * face],
    ay = at[2 * face + 1],
    bx = at[2 * n],
    by = at[2 * n + 1]
  const along = ((disc.x - ax) * (bx - ax) + (disc.y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2)
  let nx = normals[2 * face],
    ny = normals[2 * face + 1],
    apart = best
  if (best > 0 && (along < 0 || along > 1)) {
    const cx = along < 0 ? ax : bx,
      cy = along < 0 ? ay : by
    apart = Math.hypot(disc.x - cx, disc.y - cy)
    nx = (disc.x - cx) / apart
    ny = (disc.y - cy) / apart
  }
  const gap = apart - disc.radius
  if (gap > margin) return
  onContact(disc.x - (disc.radius + gap / 2) * nx, disc.y - (disc.radius + gap / 2) * ny, nx, ny, gap, face)
}

/** The side of p that separates it most from q. */
function separation(p, q) {
  let best = -Infinity,
    face = 0
  for (let k = 0; k < p.sides; k++) {
    const nx = p.normals[2 * k],
      ny = p.normals[2 * k + 1],
      offset = nx * p.at[2 * k] + ny * p.at[2 * k + 1]
    let least = Infinity
    for (let v = 0; v < q.sides; v++) least = Math.min(least, nx * q.at[2 * v] + ny * q.at[2 * v + 1])
    if (least - offset > best) {
      best = least - offset
      face = k
    }
  }
  return { best, face }
}

/** Up to two points of the side of `other` that faces the side `face` of `own`, cut at the ends of that side. */
function polygons(a, b, margin, onContact) {
  const ofA = separation(a, b)
  if (ofA.best > margin) return
  const ofB = separation(b, a)
  if (ofB.best > margin) return
  const isA = ofA.best >= ofB.best - 1e-4 // a steady choice between two that are equal but for rounding
  const own = isA ? a : b,
    other = isA ? b : a,
    { face } = isA ? ofA : ofB
  const nx = own.normals[2 * face],
    ny = own.normals[2 * face + 1],
    n = (face + 1) % own.sides
  let facing = 0,
    least = Infinity
  for (let k = 0; k < other.sides; k++) {
    const dot = nx * other.normals[2 * k] + ny * other.normals[2 * k + 1]
    if (dot < least) {
      least = dot
      facing = k
    }
  }
  const ax = own.at[2 * face],
    ay = own.at[2 * face + 1],
    tx = own.at[2 * n] - ax,
    ty = own.at[2 * n + 1] - ay,
    square = tx * tx + ty * ty
  const second = (facing + 1) % other.sides,
    ends = [facing, second].map((v) => [other.at[2 * v], other.at[2 * v + 1]])
  const along = ends.map(([x, y]) => ((x - ax) * tx + (y - ay) * ty) / square)
  const cut = [0, 1].map((k) => clip(along[k], along[1 - k]))
  if (cut.includes(null)) return
  for (let k = 0; k < 2; k++) {
    const x = ends[k][0] + cut[k] * (ends[1 - k][0] - ends[k][0]),
      y = ends[k][1] + cut[k] * (ends[1 - k][1] - ends[k][1])
    const gap = (x - ax) * nx + (y - ay) * ny,
      sign = isA ? -1 : 1
    if (gap <= margin)
      onContact(a, b, x - 0.5 * gap * nx, y - 0.5 * gap * ny, sign * nx, sign * ny, gap, (isA ? 0 : 64) + 8 * face + k)
  }
}

/** How far a segment's end is moved towards its other end, so that it lies over the side: 0 to 1, null if all of it is outside. */
function clip(along, other) {
  if (along >= 0 && along <= 1) return 0
  const bound = along < 0 ? 0 : 1
  if ((other - bound) * (along - bound) >= 0) return null
  return (bound - along) / (other - along)
}
