// Problems for the tests, in the page: window.problems.
export function poisson(n, Values = Float64Array) {
  const offsets = [0], columns = [], values = []
  for (let row = 0; row < n * n; row++) {
    const i = row % n, j = (row - i) / n
    for (const [column, value, is] of [[row - n, -1, j > 0], [row - 1, -1, i > 0], [row, 4, true], [row + 1, -1, i < n - 1], [row + n, -1, j < n - 1]]) {
      if (!is) continue
      columns.push(column)
      values.push(value)
    }
    offsets.push(columns.length)
  }
  return { rowOffsets: Int32Array.from(offsets), columnIndices: Int32Array.from(columns), values: Values.from(values) }
}

export function residual({ rowOffsets, columnIndices, values }, x, b) {
  let sum = 0, all = 0
  for (let i = 0; i < b.length; i++) {
    let r = b[i]
    for (let k = rowOffsets[i]; k < rowOffsets[i + 1]; k++) r -= values[k] * x[columnIndices[k]]
    sum += r * r
    all += b[i] * b[i]
  }
  return Math.sqrt(sum / all)
}

export function random(count, Type = Float64Array) {
  let state = 1
  return Type.from({ length: count }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return state / 2 ** 31 - 1
  })
}

/** Draws the texels of a region into the canvas of `gl`, one for each pixel, and reads them back as floats. */
export function drawRegion(gl, { texture, x, y, width, height }) {
  const compile = (type, source) => {
    const shader = gl.createShader(type)
    gl.shaderSource(shader, source)
    gl.compileShader(shader)
    return shader
  }
  const program = gl.createProgram()
  gl.attachShader(program, compile(gl.VERTEX_SHADER, `#version 300 es
    void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }`))
  gl.attachShader(program, compile(gl.FRAGMENT_SHADER, `#version 300 es
    precision highp float;
    uniform highp sampler2D field;
    uniform ivec2 corner;
    out vec4 colour;
    void main() { colour = texelFetch(field, ivec2(gl_FragCoord.xy) + corner, 0); }`))
  gl.linkProgram(program)
  const target = gl.createTexture(), framebuffer = gl.createFramebuffer()
  gl.bindTexture(gl.TEXTURE_2D, target)
  gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA32F, width, height)
  gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer)
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, target, 0)
  gl.viewport(0, 0, width, height)
  gl.useProgram(program)
  gl.uniform2i(gl.getUniformLocation(program, 'corner'), x, y)
  gl.bindTexture(gl.TEXTURE_2D, texture)
  gl.drawArrays(gl.TRIANGLES, 0, 3)
  const found = new Float32Array(4 * width * height)
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.FLOAT, found)
  gl.bindFramebuffer(gl.FRAMEBUFFER, null)
  gl.bindTexture(gl.TEXTURE_2D, null)
  return found
}

globalThis.problems = { poisson, residual, random, drawRegion }
