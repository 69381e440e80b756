// One instance of the module with one context: calls, the queue of asynchronous calls, objects and their end.
import { TexsolveError, errorOf, invalid, shown, withCode } from './errors.js'
import { load } from './load.js'
import { Arena, Memory } from './memory.js'

const pauseAfter = 12 // milliseconds of work between two pauses of a solve

// The functions between enumerators and texts.
const enumNames = {
  method: ['ts_method_from_name', 'ts_method_name'],
  format: ['ts_format_from_name', 'ts_format_name'],
  precision: ['ts_precision_from_name', 'ts_precision_name'],
  preconditioner: ['ts_preconditioner_kind_from_name', 'ts_preconditioner_kind_name'],
  scaling: ['ts_scaling_from_name', 'ts_scaling_name'],
  smoother: ['ts_amg_smoother_from_name', 'ts_amg_smoother_name'],
  gridSmoother: ['ts_smoother_from_name', 'ts_smoother_name'],
  cycle: ['ts_cycle_from_name', 'ts_cycle_name'],
  boundary: ['ts_fluid_boundary_from_name', 'ts_fluid_boundary_name'],
  lcpStorage: ['ts_lcp_storage_from_name', 'ts_lcp_storage_name'],
  lcpScheme: ['ts_lcp_scheme_from_name', 'ts_lcp_scheme_name'],
  lcpLocal: ['ts_lcp_local_from_name', 'ts_lcp_local_name'],
  lcpAcceleration: ['ts_lcp_acceleration_from_name', 'ts_lcp_acceleration_name']
}

/** Resolves in a later task; timers would wait 4 ms. */
const laterTask = typeof setImmediate === 'function' ? () => new Promise(resolve => setImmediate(resolve)) : (() => {
  const waiting = []
  let channel
  return () => new Promise(resolve => {
    if (!channel) {
      channel = new MessageChannel()
      channel.port1.onmessage = () => waiting.shift()?.()
    }
    waiting.push(resolve)
    channel.port2.postMessage(0)
  })
})()

// An object that nobody holds any more is destroyed natively.
const registry = typeof FinalizationRegistry === 'function' ? new FinalizationRegistry(record => release(record)) : undefined

function release(record) {
  const { runtime } = record
  record.isDisposed = true
  runtime.objects.delete(record.reference)
  if (!record.pointer) return
  if (runtime.current) runtime.garbage.push(record)
  else runtime.destroy(record)
}

export class Runtime {
  static async create(build, options) {
    const runtime = new Runtime()
    runtime.module = await load(build, options, runtime)
    runtime.memory = new Memory(runtime.module)
    // WebAssembly.promising (JSPI) suspends a solve in the middle; without it a solve is one task.
    runtime.canPause = typeof WebAssembly.promising === 'function' && typeof WebAssembly.Suspending === 'function'
    return runtime
  }

  constructor() {
    this.context = 0
    this.current = undefined // the asynchronous call that runs
    this.queue = Promise.resolve()
    this.objects = new Set() // WeakRefs in the order of creation, for restore()
    this.garbage = []
    this.promising = new Map()
    this.isClosed = false
    this.isLost = false
    this.isGL = false
  }

  // ---- Called by the module ----

  logLine(user, level, message) {
    this.log?.(['', 'warning', 'info', 'debug'][level], this.memory.text(message))
  }

  /** A check of a solve. Returns 1 to stop, 2 to pause, otherwise 0. */
  report(user, iteration, count, history, residual) {
    const { current } = this
    if (!current) return 0
    current.pauses = 0
    const numbers = this.memory.array(Float64Array, history, count)
    for (let k = 0; k < count; k++) current.history.push(numbers[k])
    if (current.onProgress) {
      try {
        current.onProgress({ iteration, residual, seconds: (performance.now() - current.begin) / 1000 })
      } catch (error) {
        current.error = error
        return 1
      }
    }
    if (current.signal?.aborted || this.isLost) return 1
    return current.canPause && performance.now() - current.resumed > pauseAfter ? 2 : 0
  }

  /** Suspends the call that runs until a later task. Resolves to 1 to stop it. */
  suspend() {
    const { current } = this
    // The second and later pauses between two checks wait for the device. Looking too often would cost more than it gains.
    const isWaiting = current && ++current.pauses > 2
    return (isWaiting ? new Promise(resolve => setTimeout(resolve, 1)) : laterTask()).then(() => {
      if (current) current.resumed = performance.now()
      return current?.signal?.aborted || this.isLost ? 1 : 0
    })
  }

  // ---- Calls ----

  /** Throws if the context cannot be used at all. */
  check() {
    if (this.isClosed) throw new TexsolveError('disposed', 'this texsolve is disposed of')
    if (this.isLost) throw new TexsolveError('context-lost', 'the WebGL context is lost; restore() builds everything again')
  }

  checkIdle(name) {
    this.check()
    if (this.current) {
      throw new TexsolveError('busy', `${name} was called while a solve of the same context runs: await the solve first`)
    }
  }

  error(status, context = this.context) {
    const message = this.memory.text(this.module._ts_last_error(context))
    if (this.isGL && this.gl?.isContextLost()) {
      this.lose('the WebGL context was lost')
      return new TexsolveError('context-lost', message || 'the WebGL context was lost')
    }
    return errorOf(status, message, this.memory.present().buffer)
  }

  /** Calls a function that returns a status. Throws on an error; returns 0, or 1 for a solve that did not converge. */
  call(name, ...args) {
    const status = this.module[`_${name}`](...args)
    if (status < 0) throw this.error(status)
    return status
  }

  /** Calls a create function, whose last argument is the address of the handle. */
  create(name, ...args) {
    return this.scope(arena => {
      const out = arena.allocate(4)
      this.memory.setPointerAt(out, 0)
      this.call(name, ...args, out)
      return this.memory.pointerAt(out)
    })
  }

  destroy(record) {
    if (!record.pointer) return
    const { pointer } = record
    record.pointer = 0
    if (!this.context) return
    this.scope(arena => {
      const address = arena.allocate(4)
      this.memory.setPointerAt(address, pointer)
      this.module[`_${record.destroy}`](address)
    })
  }

  /** Runs a function with an arena that is freed afterwards. */
  scope(work) {
    const arena = new Arena(this.memory)
    try {
      return work(arena)
    } finally {
      arena.free()
    }
  }

  /** Runs a function with an arena, after all asynchronous calls before it. */
  enqueue(work, { signal, onProgress } = {}) {
    if (signal !== undefined && !(signal && typeof signal.aborted === 'boolean'))
      return Promise.reject(invalid(`signal is ${shown(signal)}; it must be an AbortSignal`))
    if (onProgress !== undefined && typeof onProgress !== 'function')
      return Promise.reject(invalid(`onProgress is ${shown(onProgress)}; it must be a function`))
    const result = this.queue.then(async () => {
      this.check()
      if (signal?.aborted) throw abortError(signal)
      const arena = new Arena(this.memory)
      const begin = performance.now()
      this.current = { signal, onProgress, history: [], begin, resumed: begin, pauses: 0, canPause: this.canPause }
      try {
        return await work(arena, this.current)
      } catch (error) {
        if (this.isLost && error.code !== 'context-lost')
          throw new TexsolveError('context-lost', 'the WebGL context was lost', { cause: error })
        throw error === this.current.error ? error : withCode(error)
      } finally {
        arena.free()
        this.current = undefined
        for (const record of this.garbage.splice(0)) this.destroy(record)
      }
    })
    this.queue = result.catch(() => {})
    return result
  }

  /** Calls a function that may pause. Only within enqueue(). Throws after an error or if the caller aborted. */
  async callPausing(name, ...args) {
    const { current } = this
    let status
    if (current.canPause) {
      let wrapped = this.promising.get(name)
      if (!wrapped) this.promising.set(name, wrapped = WebAssembly.promising(this.module[`_${name}`]))
      this.module._tsw_set_pausing(this.context, 1)
      try {
        status = await wrapped(...args)
      } finally {
        this.module._tsw_set_pausing(this.context, 0)
      }
    } else {
      status = this.module[`_${name}`](...args)
    }
    if (current.error) throw current.error
    if (this.isLost) throw new TexsolveError('context-lost', 'the WebGL context was lost during the call')
    if (current.signal?.aborted) throw abortError(current.signal)
    if (status < 0) throw this.error(status)
    return status
  }

  /** The enumerator with a text, by a function of the library such as ts_method_from_name. */
  enumOf(kind, text, argument) {
    if (typeof text !== 'string') throw invalid(`${argument} is ${shown(text)}; it must be a string`)
    const value = this.scope(arena => this.module[`_${enumNames[kind][0]}`](arena.text(text)))
    if (value >= 0 && !text.includes('\0')) return value
    const known = []
    for (let k = 0; k < 16; k++) {
      const name = this.textOf(kind, k)
      if (name) known.push(`"${name}"`)
    }
    throw invalid(`${argument} is ${shown(text)}; it must be one of ${known.join(', ')}`)
  }

  textOf(kind, value) {
    return this.memory.text(this.module[`_${enumNames[kind][1]}`](value))
  }

  // ---- Objects ----

  lose(reason) {
    if (this.isLost) return
    this.isLost = true
    this.onLost?.(reason)
  }

  liveObjects() {
    const found = []
    for (const reference of this.objects) {
      const object = reference.deref()
      if (object && !object.isDisposed) found.push(object)
      else this.objects.delete(reference)
    }
    return found
  }
}

function abortError(signal) {
  return new TexsolveError('aborted', 'the call was aborted by its signal', { cause: signal.reason })
}

/** An object of the library. A subclass sets the pointer in build(), which also runs after restore(). */
export class NativeObject {
  #record

  constructor(runtime, destroy) {
    this.#record = { runtime, destroy, pointer: 0, isDisposed: false }
    this.runtime = runtime
    registry?.register(this, this.#record, this.#record)
    if (typeof WeakRef !== 'function') return
    this.#record.reference = new WeakRef(this)
    runtime.objects.add(this.#record.reference)
  }

  get isDisposed() {
    return this.#record.isDisposed
  }

  /** The handle. Throws if the object is disposed of or the context is lost. */
  get pointer() {
    if (this.#record.isDisposed) throw new TexsolveError('disposed', `this ${this.constructor.name} is disposed of`)
    this.runtime.check()
    return this.#record.pointer
  }

  set pointer(value) {
    this.#record.pointer = value
  }

  /** Forgets a handle that a lost context took with it. */
  forget() {
    this.runtime.destroy(this.#record)
  }

  dispose() {
    if (this.#record.isDisposed) return
    registry?.unregister(this.#record)
    release(this.#record)
  }

  /** Releases the native object of a constructor that failed. */
  attempt(build) {
    try {
      build()
    } catch (error) {
      this.dispose()
      throw withCode(error)
    }
  }
}
if (Symbol.dispose) NativeObject.prototype[Symbol.dispose] = NativeObject.prototype.dispose
