// What the shell gives to a part. See main.js for the part's side.

export class Host {
  #surface
  #messages
  #theme
  #controller = new AbortController()

  /** The part's element: empty, as large as the space under the header. */
  element = document.createElement('section')
  /** True after a loss of the context since the part started: its WebGL objects are gone, and must not be deleted. */
  wasLost = false
  /** The keys that the part registered by key(). */
  keys = []

  constructor({ surface, messages, theme, part }) {
    this.#surface = surface
    this.#messages = messages
    this.#theme = theme
    this.element.className = `part part-${part.id}`
    this.element.setAttribute('aria-label', part.title)
  }

  /** The page's canvas. The part puts it where it draws; it keeps its context between the parts. */
  get canvas() { return this.#surface.canvas }
  /** The canvas's WebGL 2 context, or null if the browser has none. Its state is undefined when a part starts. */
  get gl() { return this.#surface.gl }
  /** Promise of the library, opened once for the page on `gl`, or on WebAssembly without a usable `gl`. */
  open() { return this.#surface.open() }
  /** 0 (fastest) to 4 (best): a level that follows the time of a frame. quality.onChange, quality.mode. */
  get quality() { return this.#surface.quality }
  /** 'dark' or 'light'. */
  get theme() { return this.#theme.name }
  /** Aborted when the part is left. Listeners and solves of the part take it. */
  get signal() { return this.#controller.signal }

  /** Shows a sentence. kind: 'info' (goes by itself), 'warning' or 'error'. A message replaces one of the same id. */
  say(text, kind = 'info', id = undefined) { this.#messages.say(text, kind, id) }
  /** Shows an error, with the code and the message of the library. Ignores an abort. */
  fail(error) { this.#messages.fail(error) }

  /** Registers a key of the part; `label` appears in the list of keys. */
  key(key, label, action) { this.keys.push({ key, label, action }) }

  /** Calls draw(seconds since the last frame, seconds since the start) in every frame until the part is left. Frames
   * stop in a hidden tab and while the context is lost. The times of frames set the quality. A draw that returns false has
   * left its frame out: the next one counts its time too. */
  frames(draw) {
    let last = 0, total = 0
    const tick = (now) => {
      if (this.signal.aborted) return
      requestAnimationFrame(tick)
      if (document.hidden || this.#surface.isLost) return void (last = 0)
      const seconds = last ? (now - last) / 1000 : 1 / 60
      try {
        if (draw(seconds, total + seconds) === false) return
        last = now
        total += seconds
        this.quality.frame(seconds * 1000)
        if (!performance.getEntriesByName('first picture').length) performance.mark('first picture')
      } catch (error) {
        if (this.#surface.isLost || error.code === 'context-lost') return
        this.fail(error)
        this.abort()
      }
    }
    requestAnimationFrame(tick)
  }

  /** For the shell. */
  abort() { this.#controller.abort() }
  pressed(event) {
    const found = this.keys.find(({ key }) => key === event.key.toLowerCase())
    found?.action()
    return !!found
  }
}
