// The picture of a mesh and of its map, in one WebGL 2 canvas of its own.
import { Camera, FlatCamera, drive } from './camera.js'
import * as shaders from './shaders.js'

const COLOURS = { plain: 0, checker: 1, angles: 2 }
const MOST_PIXELS = 3.2e6
const THEMES = {
  dark: {
    low: [0.035, 0.042, 0.058],
    high: [0.125, 0.145, 0.19],
    edge: [0.02, 0.03, 0.05, 0.45],
    seam: [1, 0.6, 0.3, 1],
    rim: [0.75, 0.8, 0.9, 0.8]
  },
  light: {
    low: [0.9, 0.89, 0.86],
    high: [1, 1, 0.995],
    edge: [0.1, 0.12, 0.2, 0.35],
    seam: [0.76, 0.31, 0.04, 1],
    rim: [0.25, 0.28, 0.35, 0.8]
  }
}

function compile(gl, vertex, fragment) {
  const program = gl.createProgram()
  for (const [type, source] of [
    [gl.VERTEX_SHADER, vertex],
    [gl.FRAGMENT_SHADER, fragment]
  ]) {
    const shader = gl.createShader(type)
    gl.shaderSource(shader, source)
    gl.compileShader(shader)
    gl.attachShader(program, shader)
    gl.deleteShader(shader)
  }
  gl.linkProgram(program)
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
    throw new Error(`a shader of the picture does not link: ${gl.getProgramInfoLog(program)}`)
  const uniforms = {}
  for (let k = 0; k < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); k++) {
    const { name } = gl.getActiveUniform(program, k)
    uniforms[name] = gl.getUniformLocation(program, name)
  }
  return { program, uniforms }
}

export class Viewer {
  canvas = document.createElement('canvas')
  camera = new Camera()
  flatCamera = new FlatCamera()
  colours = 'plain'
  squares = 40
  showsEdges = false
  isFaceted = false
  #gl
  #drawn = null // the arrays of drawnOf()
  #asked = 0
  #free = { width: 1, height: 1 }

  constructor({ theme, signal }) {
    this.theme = theme
    const { canvas } = this
    canvas.tabIndex = 0
    canvas.setAttribute('role', 'img')
    canvas.setAttribute('aria-label', 'The mesh. Drag to turn, two fingers or the wheel to zoom.')
    this.#gl = canvas.getContext('webgl2', { alpha: false, antialias: true, powerPreference: 'high-performance' })
    if (!this.#gl) throw new Error('the picture of a mesh needs WebGL 2, which this browser does not offer')
    canvas.addEventListener('webglcontextlost', (event) => event.preventDefault(), { signal })
    canvas.addEventListener(
      'webglcontextrestored',
      () => {
        this.#build()
        if (this.#drawn) this.#upload()
        this.redraw()
      },
      { signal }
    )
    drive(canvas, { paneAt: (p) => this.#paneAt(p), signal, onChange: () => this.redraw() })
    this.#build()
  }

  #build() {
    const gl = this.#gl
    this.surface = compile(gl, shaders.SURFACE_VERTEX, shaders.SURFACE_FRAGMENT)
    this.lines = compile(gl, shaders.LINE_VERTEX, shaders.LINE_FRAGMENT)
    this.backdrop = compile(gl, shaders.BACKDROP_VERTEX, shaders.BACKDROP_FRAGMENT)
    this.empty = gl.createVertexArray()
    this.array = gl.createVertexArray()
    this.buffers = Object.fromEntries(
      ['points', 'normals', 'uv', 'angle', 'triangles', 'edges', 'borders'].map((name) => [name, gl.createBuffer()])
    )
    gl.bindVertexArray(this.array)
    for (const [at, name, size] of [
      [0, 'points', 3],
      [1, 'normals', 3],
      [2, 'uv', 2],
      [3, 'angle', 1]
    ]) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name])
      gl.vertexAttribPointer(at, size, gl.FLOAT, false, 0, 0)
      gl.enableVertexAttribArray(at)
    }
    gl.bindVertexArray(null)
  }

  // ---- What is drawn ----

  /** A new mesh or map: the arrays of drawnOf(). */
  setMesh(drawn) {
    this.#drawn = { ...drawn }
    this.#upload()
    this.redraw()
  }

  setPoints({ points, normals }) {
    Object.assign(this.#drawn, { points, normals })
    this.#uploadPoints()
    this.redraw()
  }

  setAngle(angle) {
    this.#drawn.angle = angle
    this.#fill('angle')
    this.redraw()
  }

  #fill(name, target = this.#gl.ARRAY_BUFFER) {
    const gl = this.#gl
    gl.bindVertexArray(null)
    gl.bindBuffer(target, this.buffers[name])
    gl.bufferData(target, this.#drawn[name], name === 'points' || name === 'normals' ? gl.DYNAMIC_DRAW : gl.STATIC_DRAW)
  }

  #uploadPoints() {
    this.#fill('points')
    this.#fill('normals')
  }

  #upload() {
    this.#uploadPoints()
    this.#fill('uv')
    this.#fill('angle')
    for (const name of ['triangles', 'edges', 'borders']) this.#fill(name, this.#gl.ELEMENT_ARRAY_BUFFER)
  }

  // ---- Places ----

  /** The canvas's size, and the part of it that controls do not cover, in CSS pixels. */
  resize(width, height, free) {
    const ratio = Math.min(devicePixelRatio || 1, Math.sqrt(MOST_PIXELS / Math.max(width * height, 1)))
    this.canvas.width = Math.max(1, Math.round(width * ratio))
    this.canvas.height = Math.max(1, Math.round(height * ratio))
    this.ratio = ratio
    this.#free = free
    this.redraw()
  }

  #panes() {
    const { width, height } = this.#free,
      mesh = { x: 0, y: 0, width, height }
    if (!this.#drawn?.hasMap) return { mesh }
    const isWide = width > height,
      share = 0.54
    if (isWide)
      return {
        mesh: { ...mesh, width: width * share },
        map: { x: width * share, y: 0, width: width * (1 - share), height }
      }
    return {
      mesh: { ...mesh, height: height * share },
      map: { x: 0, y: height * share, width, height: height * (1 - share) }
    }
  }

  #paneAt({ x, y }) {
    const { mesh, map } = this.#panes()
    const isMap = map && x >= map.x && y >= map.y
    const pane = isMap ? map : mesh,
      camera = isMap ? this.flatCamera : this.camera
    const size = Math.min(pane.width, pane.height)
    const unit = isMap ? 1 / 1.84 : 1
    return {
      size,
      turn: isMap ? undefined : (dx, dy) => camera.turn(dx, dy),
      zoom: (f) => camera.zoom(f),
      move: (dx, dy) => camera.move(unit * dx, unit * dy)
    }
  }

  // ---- Drawing ----

  redraw() {
    this.#asked ||= requestAnimationFrame(() => {
      this.#asked = 0
      if (!this.#gl.isContextLost()) this.#draw()
    })
  }

  /** Draws now; for a picture that is saved. */
  drawNow() {
    this.#draw()
  }

  #draw() {
    const gl = this.#gl,
      colours = THEMES[this.theme],
      { mesh, map } = this.#panes()
    gl.viewport(0, 0, this.canvas.width, this.canvas.height)
    gl.disable(gl.DEPTH_TEST)
    gl.disable(gl.BLEND)
    gl.bindVertexArray(this.empty)
    gl.useProgram(this.backdrop.program)
    gl.uniform3fv(this.backdrop.uniforms.low, colours.low)
    gl.uniform3fv(this.backdrop.uniforms.high, colours.high)
    gl.drawArrays(gl.TRIANGLES, 0, 3)
    if (!this.#drawn) return
    this.#pane(mesh, false)
    if (map) this.#pane(map, true)
    gl.bindVertexArray(null)
  }

  #pane({ x, y, width, height }, isMap) {
    const gl = this.#gl,
      r = this.ratio,
      d = this.#drawn,
      colours = THEMES[this.theme],
      aspect = width / height
    const view = this.camera.view(),
      projection = isMap ? this.flatCamera.projection(aspect) : this.camera.projection(aspect)
    const low = this.canvas.height - Math.round((y + height) * r)
    gl.viewport(Math.round(x * r), low, Math.round(width * r), Math.round(height * r))
    gl.scissor(Math.round(x * r), low, Math.round(width * r), Math.round(height * r))
    gl.enable(gl.SCISSOR_TEST)
    gl.clear(gl.DEPTH_BUFFER_BIT)
    if (isMap) gl.disable(gl.DEPTH_TEST)
    else gl.enable(gl.DEPTH_TEST)
    gl.bindVertexArray(this.array)
    const use = ({ program, uniforms }) => {
      gl.useProgram(program)
      gl.uniformMatrix4fv(uniforms.view, false, view)
      gl.uniformMatrix4fv(uniforms.projection, false, projection)
      gl.uniform1i(uniforms.isMap, isMap ? 1 : 0)
      return uniforms
    }
    const surface = use(this.surface)
    gl.uniform1i(surface.colours, d.hasMap ? COLOURS[this.colours] : 0)
    gl.uniform1f(surface.squares, this.squares)
    gl.uniform1i(surface.isDark, this.theme === 'dark' ? 1 : 0)
    gl.uniform1i(surface.isFaceted, this.isFaceted ? 1 : 0)
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers.triangles)
    gl.drawElements(gl.TRIANGLES, d.triangles.length, gl.UNSIGNED_INT, 0)
    this.#drawLines(use(this.lines), colours)
    gl.disable(gl.SCISSOR_TEST)
  }

  #drawLines({ paint }, colours) {
    const gl = this.#gl,
      d = this.#drawn
    gl.enable(gl.BLEND)
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA)
    const lines = (colour, first, count) => {
      if (!count) return
      gl.uniform4fv(paint, colour)
      gl.drawElements(gl.LINES, count, gl.UNSIGNED_INT, 4 * first)
    }
    if (this.showsEdges) {
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers.edges)
      lines(colours.edge, 0, d.edges.length)
    }
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers.borders)
    lines(colours.rim, 0, 2 * d.rims)
    lines(colours.seam, 2 * d.rims, d.borders.length - 2 * d.rims)
    gl.disable(gl.BLEND)
  }

  dispose() {
    cancelAnimationFrame(this.#asked)
    this.#gl.getExtension('WEBGL_lose_context')?.loseContext()
  }
}
