// Cuts that make each part of a mesh a disk: a handle is cut along short loops, a closed part between points far from
// each other, and large holes are joined. Only a part with a boundary has a conformal map to the plane.
//
// The loops are a tree-cotree cut (Erickson and Whittlesey 2005): a tree of shortest paths, and a tree of triangles
// across the edges with the longest loops; the edges in neither are the cut, with their paths.
import { DisjointSets, distance, next, oppositesOf } from './topology.js'

const LARGE_HOLE = 0.35 // of the longest boundary of the part
const FAR = 0.45,
  MOST_BRANCHES = 4 // branches to points that are this far from the cut, relative to its first path

// A heap of [distance, vertex].
class Heap {
  constructor() {
    this.keys = []
    this.items = []
  }

  push(key, item) {
    let k = this.keys.length
    const { keys, items } = this
    for (let up; k > 0 && keys[(up = (k - 1) >> 1)] > key; k = up) {
      keys[k] = keys[up]
      items[k] = items[up]
    }
    keys[k] = key
    items[k] = item
  }

  pop() {
    const { keys, items } = this,
      found = [keys[0], items[0]],
      key = keys.pop(),
      item = items.pop()
    let k = 0
    for (let child; (child = 2 * k + 1) < keys.length; k = child) {
      if (child + 1 < keys.length && keys[child + 1] < keys[child]) child++
      if (keys[child] >= key) break
      keys[k] = keys[child]
      items[k] = items[child]
    }
    if (keys.length) {
      keys[k] = key
      items[k] = item
    }
    return found
  }
}

// Halfedges at each vertex, both outgoing ones and those that arrive: `start[v]` to `start[v + 1]` of `list`.
function halfedgesOf(triangles, vertices) {
  const start = new Int32Array(vertices + 2),
    list = new Int32Array(2 * triangles.length)
  for (let h = 0; h < triangles.length; h++) {
    start[triangles[h] + 2]++
    start[triangles[next(h)] + 2]++
  }
  for (let v = 0; v < vertices; v++) start[v + 2] += start[v + 1]
  for (let h = 0; h < triangles.length; h++) {
    list[start[triangles[h] + 1]++] = h
    list[start[triangles[next(h)] + 1]++] = h
  }
  return { start, list }
}

class Paths {
  constructor(mesh) {
    const vertices = mesh.positions.length / 3
    this.mesh = mesh
    this.around = halfedgesOf(mesh.triangles, vertices)
    this.length = new Float64Array(vertices).fill(Infinity)
    this.from = new Int32Array(vertices).fill(-1) // the halfedge towards the source; -1
    this.reached = [] // in the order of distance
  }

  other(h, v) {
    const a = this.mesh.triangles[h]
    return a === v ? this.mesh.triangles[next(h)] : a
  }

  // Shortest paths along edges from the sources.
  measure(sources) {
    const { positions } = this.mesh,
      { start, list } = this.around,
      { length, from } = this,
      heap = new Heap()
    for (const v of this.reached) length[v] = Infinity
    for (const v of this.reached) from[v] = -1
    this.reached = []
    for (const v of sources) {
      length[v] = 0
      heap.push(0, v)
    }
    while (heap.keys.length) {
      const [key, v] = heap.pop()
      if (key > length[v]) continue
      this.reached.push(v)
      for (let k = start[v]; k < start[v + 1]; k++) {
        const w = this.other(list[k], v),
          through = key + distance(positions, v, w)
        if (through < length[w]) {
          length[w] = through
          from[w] = list[k]
          heap.push(through, w)
        }
      }
    }
    return this.reached.at(-1) // the farthest vertex
  }
}

// Two vertices of the boundary that are far from each other along the surface: the pins of a conformal map. Their distance
// in space may be small, as at the ends of a strip that is rolled up.
export function findPins(chart) {
  const { opposite } = oppositesOf(chart.triangles),
    paths = new Paths(chart)
  const rim = [...chart.triangles].filter((_, h) => opposite[h] < 0)
  const farthest = (from) => {
    paths.measure([from])
    return rim.reduce((best, v) => (paths.length[v] > paths.length[best] ? v : best), rim[0])
  }
  const one = farthest(rim[0]),
    two = farthest(one)
  return new Map([
    [one, [0, 0]],
    [two, [paths.length[two], 0]]
  ])
}

// Boundary loops: for each boundary halfedge its loop, and the length of each loop.
function boundaryLoops({ positions, triangles }, opposite) {
  const leaving = new Map(),
    loop = new Map(),
    lengths = []
  for (let h = 0; h < opposite.length; h++) if (opposite[h] < 0) leaving.set(triangles[h], h)
  for (const first of leaving.values()) {
    if (loop.has(first)) continue
    let length = 0
    for (let h = first; h !== undefined && !loop.has(h); h = leaving.get(triangles[next(h)])) {
      loop.set(h, lengths.length)
      length += distance(positions, triangles[h], triangles[next(h)])
    }
    lengths.push(length)
  }
  return { loop, lengths }
}

class Cutter {
  constructor(mesh) {
    this.mesh = mesh
    this.opposite = mesh.opposite
    this.open = new Uint8Array(mesh.triangles.length)
    this.paths = new Paths(mesh)
  }

  cutEdge(h) {
    this.open[h] = 1
    if (this.opposite[h] >= 0) this.open[this.opposite[h]] = 1
  }

  // Cuts along the path to the source, up to an existing cut.
  cutPath(v) {
    for (let h; (h = this.paths.from[v]) >= 0 && !this.open[h]; v = this.paths.other(h, v)) this.cutEdge(h)
  }

  // Opens handles along short loops. A hole counts as a face here.
  cutLoops(triangles, loop) {
    const { opposite, paths } = this,
      corners = this.mesh.triangles,
      { positions } = this.mesh,
      faces = opposite.length / 3
    const sets = new DisjointSets(faces + loop.size),
      inTree = new Set(),
      candidates = []
    for (const v of paths.reached)
      if (paths.from[v] >= 0) {
        inTree.add(paths.from[v])
        inTree.add(opposite[paths.from[v]])
      }
    const faceAcross = (h) => (opposite[h] >= 0 ? (opposite[h] / 3) | 0 : faces + loop.get(h))
    for (const t of triangles)
      for (let h = 3 * t; h < 3 * t + 3; h++) {
        if (inTree.has(h) || opposite[h] > h) continue
        const a = corners[h],
          b = corners[next(h)]
        candidates.push([paths.length[a] + paths.length[b] + distance(positions, a, b), h])
      }
    candidates.sort((a, b) => b[0] - a[0])
    for (const [, h] of candidates) {
      if (sets.join((h / 3) | 0, faceAcross(h))) continue
      this.cutEdge(h)
      this.cutPath(corners[h])
      this.cutPath(corners[next(h)])
    }
  }

  // Joins the large holes of a part by paths. Small holes stay.
  cutBetweenHoles(rims) {
    const longest = Math.max(...rims.map(({ length }) => length))
    const large = rims.filter(({ length }) => length > LARGE_HOLE * longest)
    const joined = new Set(large[0].vertices)
    for (const { vertices } of large.slice(1)) {
      this.paths.measure(joined)
      const nearest = vertices.reduce((best, v) => (this.paths.length[v] < this.paths.length[best] ? v : best))
      this.follow(nearest, joined)
      for (const v of vertices) joined.add(v)
    }
  }

  // Cuts from a vertex to the nearest one of a set, which gets the vertices of the path.
  follow(v, set) {
    const { paths } = this
    for (let w = v; !set.has(w); w = paths.other(paths.from[w], w)) {
      set.add(w)
      if (paths.from[w] < 0) break
      this.cutEdge(paths.from[w])
    }
  }

  // Removes dead ends of the cut.
  trim(triangles) {
    const corners = this.mesh.triangles,
      degree = new Map(),
      { start, list } = this.paths.around
    const add = (v, d) => degree.set(v, (degree.get(v) ?? 0) + d)
    const isEdge = (h) => this.opposite[h] < h // each edge once
    const counts = (h) => isEdge(h) && (this.open[h] || this.opposite[h] < 0)
    for (const t of triangles)
      for (let h = 3 * t; h < 3 * t + 3; h++)
        if (counts(h)) {
          add(corners[h], 1)
          add(corners[next(h)], 1)
        }
    const ends = [...degree.keys()].filter((v) => degree.get(v) === 1)
    while (ends.length) {
      const v = ends.pop()
      for (let k = start[v]; k < start[v + 1]; k++) {
        const h = list[k],
          w = this.paths.other(h, v)
        if (!isEdge(h) || !this.open[h] || this.opposite[h] < 0) continue
        this.open[h] = this.open[this.opposite[h]] = 0
        add(v, -1)
        add(w, -1)
        if (degree.get(w) === 1) ends.push(w)
      }
    }
  }

  // A closed part without handles: a cut between two points far apart, with branches to other far points.
  cutSphere(seed) {
    const { paths } = this,
      first = paths.measure([seed]),
      onCut = new Set([first])
    let far = paths.measure(onCut)
    const size = paths.length[far]
    for (let branch = 0; branch < MOST_BRANCHES && paths.length[far] > FAR * size; branch++) {
      this.follow(far, onCut)
      far = paths.measure(onCut)
    }
  }
}

// The boundary loops of a part, the longest first.
function rimsOf(triangles, mesh, loops) {
  const rims = new Map()
  for (const t of triangles)
    for (let h = 3 * t; h < 3 * t + 3; h++) {
      if (mesh.opposite[h] >= 0) continue
      const k = loops.loop.get(h)
      if (!rims.has(k)) rims.set(k, { length: loops.lengths[k], vertices: [] })
      rims.get(k).vertices.push(mesh.triangles[h])
    }
  return [...rims.values()].sort((a, b) => b.length - a.length)
}

function eulerOf(triangles, mesh) {
  const vertices = new Set()
  let edges = 0
  for (const t of triangles)
    for (let h = 3 * t; h < 3 * t + 3; h++) {
      vertices.add(mesh.triangles[h])
      edges += mesh.opposite[h] < h
    }
  return vertices.size - edges + triangles.length
}

// Returns a flag per halfedge: 1 where its triangle is separated from the neighbour.
export function findSeams(mesh, { part, parts }) {
  const cutter = new Cutter(mesh),
    loops = boundaryLoops(mesh, mesh.opposite)
  const lists = Array.from({ length: parts }, () => [])
  part.forEach((k, t) => lists[k].push(t))
  for (const triangles of lists) {
    const rims = rimsOf(triangles, mesh, loops),
      handles = (2 - rims.length - eulerOf(triangles, mesh)) / 2
    const seed = mesh.triangles[3 * triangles[0]]
    if (handles > 0) {
      cutter.paths.measure([cutter.paths.measure([seed])])
      cutter.cutLoops(triangles, loops.loop)
      cutter.trim(triangles)
    }
    if (rims.length > 1) cutter.cutBetweenHoles(rims)
    if (!rims.length && handles === 0) cutter.cutSphere(seed)
  }
  return cutter.open
}
