// Opening a context of the library: on a WebGL 2 context, or on the CPU in WebAssembly.
import { TexsolveError, invalid, shown } from './errors.js'
import { constants as c } from './layout.js'
import { shadowState } from './shadow.js'

const attributes = { alpha: true, antialias: false, depth: false, stencil: false, powerPreference: 'high-performance' }

/** The caller's WebGL 2 context, or one on the caller's canvas; {} for an off-screen one, which the module creates. */
function findGL({ gl, canvas }) {
  if (gl) {
    if (typeof gl.getExtension !== 'function' || typeof gl.fenceSync !== 'function')
      throw invalid(`gl is ${shown(gl)}; it must be a WebGL2RenderingContext`)
    return { gl, reason: gl.isContextLost() ? 'the WebGL context is lost' : undefined }
  }
  if (!canvas) {
    const isPossible = typeof OffscreenCanvas === 'function' || typeof document === 'object'
    return { reason: isPossible ? undefined : 'there is no WebGL here' }
  }
  if (typeof canvas.getContext !== 'function')
    throw invalid(`canvas is ${shown(canvas)}; it must be a canvas or an OffscreenCanvas`)
  const found = canvas.getContext('webgl2', attributes)
  return { gl: found, reason: found ? undefined : 'the canvas has another kind of context, or this device has no WebGL 2' }
}

function create(runtime, backend, arena, fields = {}) {
  const desc = arena.struct('ts_context_desc', {
    backend: arena.text(backend), log: runtime.module._tsw_get_log(), log_level: runtime.log ? c.TS_LOG_LEVEL_INFO : 0, ...fields
  })
  const out = arena.struct('ts_array')
  const status = runtime.module._ts_context_create(desc, out)
  if (status < 0) throw runtime.error(status, 0)
  return runtime.memory.pointerAt(out)
}

function openGL(runtime, gl) {
  const { module } = runtime
  if (!module.GL) throw new TexsolveError('unavailable', 'this module was built without WebGL')
  if (gl) shadowState(gl)
  if (gl) module.GL.makeContextCurrent(module.GL.registerContext(gl, { majorVersion: 2, enableExtensionsByDefault: false }))
  runtime.context = runtime.scope(arena => create(runtime, 'gl', arena, {
    gl: arena.struct('ts_gl_desc', { platform: gl ? c.TS_GL_PLATFORM_CURRENT : c.TS_GL_PLATFORM_AUTO })
  }))
  runtime.gl = gl ?? module.GL.contexts.find(found => found && !found.GLctx.isContextLost())?.GLctx
  runtime.isGL = true
}

/** Opens the context and sets runtime.reason, which says why this backend was taken. */
export async function openContext(runtime, options) {
  const { backend = 'auto', log } = options
  if (!['auto', 'gl', 'cpu'].includes(backend))
    throw invalid(`backend is ${shown(backend)}; it must be "auto", "gl" or "cpu"`)
  if (log !== undefined && typeof log !== 'function') throw invalid(`log is ${shown(log)}; it must be a function`)
  runtime.log = log
  let reason = 'backend "cpu" was asked for'
  if (backend !== 'cpu') {
    const found = findGL(options)
    reason = found.reason
    if (!reason) {
      try {
        openGL(runtime, found.gl)
        runtime.reason = options.gl ? 'WebGL 2, in the context that was given' : 'WebGL 2'
        if (backend === 'gl' || options.gl || readInfo(runtime).is_hardware) return
        reason = 'the WebGL device is a software rasterizer, which is slower than WebAssembly'
        closeContext(runtime)
      } catch (error) {
        if (error.code === 'invalid-argument') throw error
        reason = error.message
      }
    }
    if (backend === 'gl') throw new TexsolveError('unavailable', reason)
  }
  runtime.isGL = false
  runtime.context = runtime.scope(arena => create(runtime, 'cpu', arena))
  runtime.reason = `WebAssembly: ${reason}`
  runtime.log?.('info', runtime.reason)
}

export function closeContext(runtime) {
  if (!runtime.context) return
  runtime.scope(arena => {
    const address = arena.allocate(4)
    runtime.memory.setPointerAt(address, runtime.context)
    runtime.module._ts_context_destroy(address)
  })
  runtime.context = 0
  runtime.gl = undefined
}

export function readInfo(runtime) {
  return runtime.scope(arena => {
    const info = arena.struct('ts_context_info')
    runtime.call('ts_context_get_info', runtime.context, info)
    return runtime.memory.readStruct('ts_context_info', info)
  })
}
