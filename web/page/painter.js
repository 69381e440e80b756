// A small layer over WebGL 2 for display passes: programs, targets, and a draw that sets all the state it needs.

const VERTEX = `#version 300 es
out vec2 uv;
void main() {
  uv = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);
  gl_Position = vec4(uv * 2.0 - 1.0, 0.0, 1.0);
}`

const FRAGMENT = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
in vec2 uv;
`

export class Painter {
  constructor(gl) {
    this.gl = gl
    gl.getExtension('EXT_color_buffer_float') ?? gl.getExtension('EXT_color_buffer_half_float')
    gl.getExtension('KHR_parallel_shader_compile')
    this.triangle = gl.createVertexArray()
    this.owned = []
  }

  /** True if the device draws to half floats. */
  get drawsHalfFloats() {
    const target = this.target(4, 4, this.gl.RGBA16F)
    this.gl.bindFramebuffer(this.gl.FRAMEBUFFER, target.framebuffer)
    const complete = this.gl.checkFramebufferStatus(this.gl.FRAMEBUFFER) === this.gl.FRAMEBUFFER_COMPLETE
    this.free(target)
    return complete
  }

  /** Starts to compile a program. The driver may do so in parallel: the first draw asks for the result. */
  program(body, vertex = undefined) {
    const { gl } = this
    const handle = gl.createProgram()
    const shaders = [[gl.VERTEX_SHADER, vertex ?? VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT + body]].map(([kind, source]) => {
      const shader = gl.createShader(kind)
      gl.shaderSource(shader, source)
      gl.compileShader(shader)
      gl.attachShader(handle, shader)
      return shader
    })
    gl.linkProgram(handle)
    this.owned.push(() => {
      gl.deleteProgram(handle)
      shaders.forEach((shader) => gl.deleteShader(shader))
    })
    return { handle, shaders, uniforms: null }
  }

  #ready(program) {
    const { gl } = this
    if (!gl.getProgramParameter(program.handle, gl.LINK_STATUS)) {
      if (gl.isContextLost()) throw Object.assign(new Error('the WebGL context is lost'), { code: 'context-lost' })
      throw new Error('a shader of this page does not compile here: ' + [gl.getProgramInfoLog(program.handle),
        ...program.shaders.map((shader) => gl.getShaderInfoLog(shader))].filter(Boolean).join(' '))
    }
    program.uniforms = new Map()
    const count = gl.getProgramParameter(program.handle, gl.ACTIVE_UNIFORMS)
    for (let i = 0; i < count; i++) {
      const { name, type } = gl.getActiveUniform(program.handle, i)
      program.uniforms.set(name.replace('[0]', ''), { at: gl.getUniformLocation(program.handle, name), type })
    }
  }

  /** A texture that can be drawn to. */
  target(width, height, format, filter = this.gl.LINEAR) {
    const { gl } = this
    const texture = this.texture(width, height, format, filter)
    const framebuffer = gl.createFramebuffer()
    gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer)
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture.texture, 0)
    gl.disable(gl.SCISSOR_TEST)
    gl.clearBufferfv(gl.COLOR, 0, [0, 0, 0, 0])
    return { ...texture, framebuffer }
  }

  texture(width, height, format, filter = this.gl.LINEAR) {
    const { gl } = this
    const texture = gl.createTexture()
    gl.activeTexture(gl.TEXTURE0)
    gl.bindTexture(gl.TEXTURE_2D, texture)
    gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height)
    this.#wrap(filter)
    return { texture, width, height, format }
  }

  #wrap(filter) {
    const { gl } = this
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE)
  }

  free(...targets) {
    for (const target of targets) {
      if (!target) continue
      if (target.framebuffer) this.gl.deleteFramebuffer(target.framebuffer)
      this.gl.deleteTexture(target.texture)
    }
  }

  /** Sets the state that draws need. Call it once a frame, and after other code used the context. */
  begin() {
    const { gl } = this
    for (const state of [gl.BLEND, gl.DEPTH_TEST, gl.CULL_FACE, gl.SCISSOR_TEST, gl.STENCIL_TEST]) gl.disable(state)
    gl.colorMask(true, true, true, true)
    gl.bindVertexArray(this.triangle)
    gl.bindBuffer(gl.PIXEL_UNPACK_BUFFER, null)
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1)
  }

  /** Draws a program over all of `target` (null: the canvas), or over `box` [x, y, width, height] of it. values: numbers,
   * arrays and textures by the names of uniforms. add: adds to the target. */
  draw(program, target, values, { add = false, box = undefined } = {}) {
    const { gl } = this
    if (!program.uniforms) this.#ready(program)
    gl.useProgram(program.handle)
    gl.bindFramebuffer(gl.FRAMEBUFFER, target?.framebuffer ?? null)
    gl.viewport(...(box ?? [0, 0, target?.width ?? gl.drawingBufferWidth, target?.height ?? gl.drawingBufferHeight]))
    this.set(program, values)
    if (add) {
      gl.enable(gl.BLEND)
      gl.blendFunc(gl.ONE, gl.ONE)
      gl.blendEquation(gl.FUNC_ADD)
    }
    gl.drawArrays(gl.TRIANGLES, 0, 3)
    if (add) gl.disable(gl.BLEND)
  }

  /** Sets uniforms of a program in use. Names that the program does not have are ignored. */
  set(program, values) {
    const { gl } = this
    let unit = 0
    for (const [name, value] of Object.entries(values)) {
      const uniform = program.uniforms.get(name)
      if (!uniform) continue
      const { at, type } = uniform
      if (type === gl.SAMPLER_2D) {
        gl.activeTexture(gl.TEXTURE0 + unit)
        gl.bindTexture(gl.TEXTURE_2D, value.texture ?? value)
        gl.bindSampler(unit, null)
        gl.uniform1i(at, unit++)
      } else if (type === gl.INT || type === gl.BOOL) gl.uniform1i(at, value)
      else if (type === gl.INT_VEC2) gl.uniform2iv(at, value)
      else if (type === gl.FLOAT) value.length ? gl.uniform1fv(at, value) : gl.uniform1f(at, value)
      else if (type === gl.FLOAT_VEC2) gl.uniform2fv(at, value)
      else if (type === gl.FLOAT_VEC3) gl.uniform3fv(at, value)
      else if (type === gl.FLOAT_VEC4) gl.uniform4fv(at, value)
      else throw new Error(`uniform ${name} has a type that painter.js does not know`)
    }
  }

  /** Frees programs and the rest. Targets are the caller's, by free(). */
  dispose() {
    this.gl.useProgram(null) // a program in use would live on, deleted
    this.owned.forEach((release) => release())
    this.owned = []
    this.gl.deleteVertexArray(this.triangle)
  }
}
