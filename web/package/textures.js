// What only contexts on WebGL have: textures of vectors, properties of the device.
import { TexsolveError } from './errors.js'

export function infoGL(runtime) {
  if (!runtime.isGL) return { exactSums: 'double', maxTextureSize: 0 }
  return runtime.scope(arena => {
    const address = arena.struct('ts_gl_info')
    runtime.call('ts_gl_get_info', runtime.context, address)
    const info = runtime.memory.readStruct('ts_gl_info', address)
    return { exactSums: info.exact_sums, maxTextureSize: info.max_texture_size }
  })
}

function checkGL(runtime) {
  runtime.check()
  if (!runtime.isGL) throw new TexsolveError('unsupported', 'only a context on WebGL has textures; this one is on the CPU')
}

/** The texture and the region of a native vector. */
export function textureOf(runtime, vector) {
  checkGL(runtime)
  return runtime.scope(arena => {
    const address = arena.struct('ts_gl_texture')
    runtime.call('ts_gl_vector_get_texture', vector, address)
    const { texture, internal_format: internalFormat, x, y, width, height } = runtime.memory.readStruct('ts_gl_texture', address)
    return { texture: runtime.module.GL.textures[texture], internalFormat, x, y, width, height }
  })
}

/** The texel of each index of a native space. */
export function texelsOf(runtime, space, size) {
  checkGL(runtime)
  return runtime.scope(arena => {
    const texels = arena.allocate(8 * size)
    runtime.call('ts_gl_space_get_texels', space, texels, 2 * size)
    return runtime.memory.array(Int32Array, texels, 2 * size).slice()
  })
}
