// Which triangles of a mesh are neighbours. Halfedge h is the edge from corner h to the next corner of its triangle.

export const next = (h) => (h % 3 === 2 ? h - 2 : h + 1)
export const previous = (h) => (h % 3 === 0 ? h + 2 : h - 1)

export class DisjointSets {
  constructor(count) {
    this.parent = Int32Array.from({ length: count }, (_, k) => k)
  }

  find(k) {
    const { parent } = this
    while (parent[k] !== k) k = parent[k] = parent[parent[k]]
    return k
  }

  // Returns whether the two were in different sets.
  join(a, b) {
    a = this.find(a)
    b = this.find(b)
    this.parent[Math.max(a, b)] = Math.min(a, b)
    return a !== b
  }
}

// For each halfedge the next halfedge between the same two vertices, in a ring.
function ringsOfEdges(triangles) {
  const count = triangles.length,
    ring = Int32Array.from({ length: count }, (_, h) => h)
  let mask = 4
  while (mask < 2 * count) mask *= 2
  const table = new Int32Array(mask--).fill(-1)
  for (let h = 0; h < count; h++) {
    const a = triangles[h],
      b = triangles[next(h)],
      low = Math.min(a, b),
      high = Math.max(a, b)
    let slot = Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1)
    slot = (slot ^ (slot >>> 15)) & mask
    for (; ; slot = (slot + 1) & mask) {
      const g = table[slot]
      if (g < 0) table[slot] = h
      else {
        const c = triangles[g],
          d = triangles[next(g)]
        if (Math.min(c, d) !== low || Math.max(c, d) !== high) continue
        ring[h] = ring[g]
        ring[g] = h
      }
      break
    }
  }
  return ring
}

// For each halfedge its opposite; -1 at the boundary and at edges with more than two triangles.
export function oppositesOf(triangles) {
  const ring = ringsOfEdges(triangles),
    opposite = new Int32Array(triangles.length).fill(-1)
  let crowded = 0
  for (let h = 0; h < triangles.length; h++) {
    const g = ring[h]
    if (g === h) continue
    if (ring[g] === h) opposite[h] = g
    else crowded++
  }
  return { opposite, crowded }
}

// Turns triangles so that neighbours traverse their edge in opposite directions. If that fails, as on a Moebius
// strip, the neighbours are separated. Returns how many triangles were turned and edges were separated.
function orient(triangles, opposite) {
  const count = triangles.length / 3,
    state = new Int8Array(count) // 1: as it is, -1: turned
  const stack = new Int32Array(count),
    is = (h) => triangles[h] === triangles[next(opposite[h])]
  let turned = 0,
    separated = 0
  for (let seed = 0; seed < count; seed++) {
    if (state[seed]) continue
    let top = 0
    state[seed] = 1
    for (stack[top++] = seed; top;) {
      const t = stack[--top]
      for (let h = 3 * t; h < 3 * t + 3; h++) {
        const g = opposite[h]
        if (g < 0) continue
        const other = (g / 3) | 0,
          wanted = is(h) ? state[t] : -state[t]
        if (!state[other]) {
          state[other] = wanted
          turned += wanted < 0
          stack[top++] = other
        } else if (state[other] !== wanted) {
          opposite[h] = opposite[g] = -1
          separated++
        }
      }
    }
  }
  if (turned) turnTriangles(triangles, opposite, state)
  return { turned, separated }
}

// Exchanges the last two corners of triangles with state -1: their halfedges 0 and 2 change places.
function turnTriangles(triangles, opposite, state) {
  const place = (h) => (state[(h / 3) | 0] < 0 && h % 3 !== 1 ? h - (h % 3) + 2 - (h % 3) : h)
  const moved = new Int32Array(opposite.length)
  for (let h = 0; h < opposite.length; h++) moved[place(h)] = opposite[h] < 0 ? -1 : place(opposite[h])
  opposite.set(moved)
  for (let t = 0; t < state.length; t++)
    if (state[t] < 0) [triangles[3 * t + 1], triangles[3 * t + 2]] = [triangles[3 * t + 2], triangles[3 * t + 1]]
}

// Gives each fan of triangles at a vertex a vertex of its own. Neighbours are separated if isOpen(h).
// Returns triangles of the new vertices, and the old vertex of each.
export function splitVertices(triangles, opposite, isOpen = () => false) {
  const sets = new DisjointSets(triangles.length)
  for (let h = 0; h < triangles.length; h++) {
    const g = opposite[h]
    if (g < h || isOpen(h)) continue // each pair once
    sets.join(h, next(g))
    sets.join(next(h), g)
  }
  const number = new Int32Array(triangles.length).fill(-1),
    found = new Int32Array(triangles.length),
    origin = []
  for (let h = 0; h < triangles.length; h++) {
    const root = sets.find(h)
    if (number[root] < 0) {
      number[root] = origin.length
      origin.push(triangles[h])
    }
    found[h] = number[root]
  }
  return { triangles: found, origin: Int32Array.from(origin) }
}

function withoutCollapsed(triangles, positions) {
  const p = positions,
    same = (a, b) => p[3 * a] === p[3 * b] && p[3 * a + 1] === p[3 * b + 1] && p[3 * a + 2] === p[3 * b + 2]
  return triangles.filter((_, k) => {
    const t = k - (k % 3),
      a = triangles[t],
      b = triangles[t + 1],
      c = triangles[t + 2]
    return !(a === b || b === c || c === a || same(a, b) || same(b, c) || same(c, a))
  })
}

// Turns all triangles of a closed mesh whose volume is negative: its outside faced inwards.
function turnOutside(mesh) {
  const { positions: p, triangles: t, opposite } = mesh
  let volume = 0
  for (let k = 0; k < t.length; k += 3) {
    const a = 3 * t[k],
      b = 3 * t[k + 1],
      c = 3 * t[k + 2]
    volume +=
      p[a] * (p[b + 1] * p[c + 2] - p[b + 2] * p[c + 1]) +
      p[a + 1] * (p[b + 2] * p[c] - p[b] * p[c + 2]) +
      p[a + 2] * (p[b] * p[c + 1] - p[b + 1] * p[c])
  }
  if (volume >= 0 || opposite.includes(-1)) return false
  turnTriangles(t, opposite, new Int8Array(t.length / 3).fill(-1))
  return true
}

// Makes a mesh that the library accepts: no triangle with equal corners, at most two triangles at an edge, which
// traverse it in opposite directions, one fan at a vertex, no unused vertex. `notes` says what was changed.
export function repair({ positions, triangles }) {
  const notes = [],
    kept = withoutCollapsed(triangles, positions),
    dropped = (triangles.length - kept.length) / 3
  if (!kept.length) throw new Error('all triangles of the mesh are points or lines')
  const { opposite, crowded } = oppositesOf(kept),
    { turned, separated } = orient(kept, opposite)
  const split = splitVertices(kept, opposite),
    vertices = split.origin.length,
    used = new Set(split.origin).size
  const points = new Float64Array(3 * vertices)
  split.origin.forEach((v, k) => points.set(positions.subarray(3 * v, 3 * v + 3), 3 * k))
  const say = (count, text) => count && notes.push(`${count} ${text}`)
  say(dropped, 'triangles without area removed')
  say(crowded, 'sides of edges with three or more triangles separated')
  say(turned, 'triangles turned')
  say(separated, 'edges opened, the surface has one side')
  say(vertices - used, 'vertices doubled')
  say(positions.length / 3 - used, 'unused vertices removed')
  const mesh = { positions: points, triangles: split.triangles, opposite, notes }
  if (turnOutside(mesh)) notes.push('the surface faced inwards, turned')
  return mesh
}

// The connected parts: for each triangle its part, and the number of parts.
export function partsOf(opposite, isOpen = () => false) {
  const count = opposite.length / 3,
    sets = new DisjointSets(count),
    part = new Int32Array(count).fill(-1)
  for (let h = 0; h < opposite.length; h++)
    if (opposite[h] >= 0 && !isOpen(h)) sets.join((h / 3) | 0, (opposite[h] / 3) | 0)
  let parts = 0
  for (let t = 0; t < count; t++) {
    const root = sets.find(t)
    if (root === t) part[t] = parts++
    else part[t] = part[root] // the root has the lowest number
  }
  return { part, parts }
}

export function meanEdge({ positions, triangles }) {
  let sum = 0
  for (let h = 0; h < triangles.length; h++) sum += distance(positions, triangles[h], triangles[next(h)])
  return sum / triangles.length
}

export function distance(p, a, b) {
  return Math.hypot(p[3 * a] - p[3 * b], p[3 * a + 1] - p[3 * b + 1], p[3 * a + 2] - p[3 * b + 2])
}
