// Calls of functions in a worker: Remote on the page's side, serve() in the worker.

const PATIENCE_MS = 1500 // after an abort, before the worker is ended

function errorOf({ name, message, code, line }) {
  return Object.assign(new Error(message), { name, code, line })
}

export class Remote {
  #url
  #worker = null
  #calls = new Map()
  #last = 0

  /** A worker that is started by the first call. `onRestart` is called when it has lost its state. */
  constructor(url, { signal, onRestart } = {}) {
    this.#url = url
    this.onRestart = onRestart
    signal?.addEventListener('abort', () => this.stop())
  }

  #start() {
    const worker = new Worker(this.#url, { type: 'module' })
    worker.addEventListener('message', ({ data }) => this.#answer(data))
    worker.addEventListener('error', (event) => {
      event.preventDefault()
      this.#restart(
        Object.assign(new Error(`The worker failed: ${event.message || 'its program could not be loaded'}`), {
          code: 'worker'
        })
      )
    })
    return worker
  }

  #answer({ id, result, error, progress }) {
    const call = this.#calls.get(id)
    if (!call) return
    if (progress !== undefined) return void call.onProgress?.(progress)
    this.#forget(id, call)
    if (error) call.reject(errorOf(error))
    else call.resolve(result)
  }

  #forget(id, call) {
    this.#calls.delete(id)
    clearTimeout(call.timer)
    call.signal?.removeEventListener('abort', call.onAbort)
  }

  /** Calls a function of the worker. The promise rejects with code 'aborted' soon after the signal is aborted. */
  call(name, argument, { signal, onProgress, transfer = [] } = {}) {
    if (signal?.aborted) return Promise.reject(errorOf({ name: 'AbortError', message: 'aborted', code: 'aborted' }))
    this.#worker ??= this.#start()
    const id = ++this.#last
    return new Promise((resolve, reject) => {
      const call = { resolve, reject, signal, onProgress }
      call.onAbort = () => {
        this.#worker?.postMessage({ id, abort: true })
        call.timer = setTimeout(() => this.#restart(), PATIENCE_MS)
      }
      signal?.addEventListener('abort', call.onAbort)
      this.#calls.set(id, call)
      this.#worker.postMessage({ id, name, argument }, transfer)
    })
  }

  #restart(error) {
    this.stop(error)
    this.onRestart?.()
  }

  /** Ends the worker. Calls that wait are rejected. */
  stop(error = errorOf({ name: 'AbortError', message: 'aborted', code: 'aborted' })) {
    this.#worker?.terminate()
    this.#worker = null
    for (const [id, call] of this.#calls) {
      this.#forget(id, call)
      call.reject(error)
    }
  }
}

/** In a worker: answers calls by functions(argument, { signal, progress }). A function returns its result, or
 * { result, transfer }. */
export function serve(functions) {
  const controllers = new Map()
  const fail = (id, { name, message, code, line }) =>
    postMessage({ id, error: { name, message: message || String(name), code, line } })
  addEventListener('message', async ({ data: { id, name, argument, abort } }) => {
    if (abort) return void controllers.get(id)?.abort()
    const controller = new AbortController()
    controllers.set(id, controller)
    try {
      const answer = await functions[name](argument, {
        signal: controller.signal,
        progress: (progress) => postMessage({ id, progress })
      })
      postMessage({ id, result: answer?.transfer ? answer.result : answer }, answer?.transfer ?? [])
    } catch (error) {
      fail(
        id,
        error instanceof RangeError
          ? { name: error.name, message: `not enough memory: ${error.message}`, code: 'out-of-memory' }
          : error
      )
    } finally {
      controllers.delete(id)
    }
  })
}

/** Lets messages in: an abort, for instance. */
export const breathe = () => new Promise((resolve) => setTimeout(resolve))
