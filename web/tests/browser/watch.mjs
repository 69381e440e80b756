// Watches a page of Chromium for a long time: its memory, and its long tasks with what the page did in them.

import { readdir, readFile } from 'node:fs/promises'

const SAMPLE_MS = 50 // between looks at the processor time of the browser's threads
const PROFILE_US = 5000 // between looks at the stack of the page

const read = (path) => readFile(path, 'utf8').catch(() => '')
const numbersIn = async (folder) => (await readdir(folder).catch(() => [])).filter((name) => /^\d+$/.test(name))

/** The processes of the browser with this profile: { id, kind: 'gpu-process', 'renderer' ..., residentMB }. */
async function processesOf(folder) {
  const found = new Map()
  for (const id of await numbersIn('/proc')) {
    const [command, status] = await Promise.all(['cmdline', 'status'].map((file) => read(`/proc/${id}/${file}`)))
    const number = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
    found.set(Number(id), { id, parent: number('PPid'), residentMB: number('VmRSS') / 1024,
      isOurs: command.includes(folder), kind: /--type=([\w-]+)/.exec(command)?.[1] ?? 'browser' })
  }
  const belongs = (one) => one && (one.isOurs || belongs(found.get(one.parent)))
  return [...found.values()].filter(belongs)
}

/** ms that threads ran, and that they were ready and waited for a processor: the main threads of pages, and all threads of
 * the GPU process, which also draws if there is no GPU. */
async function processorMs(processes) {
  const now = { at: Date.now(), page: 0, pageWaits: 0, gpu: 0 }
  for (const { id, kind } of processes) {
    if (kind !== 'renderer' && kind !== 'gpu-process') continue
    for (const thread of kind === 'renderer' ? [id] : await numbersIn(`/proc/${id}/task`)) {
      const [ran, waited] = (await read(`/proc/${id}/task/${thread}/schedstat`)).split(' ').map((ns) => Number(ns) / 1e6)
      if (kind === 'gpu-process') now.gpu += ran || 0
      else {
        now.page += ran || 0
        now.pageWaits += waited || 0
      }
    }
  }
  return now
}

/** Runs in the page before its scripts: collects long tasks, and counts WebGL objects that were not deleted. */
function instrument() {
  const watched = window.texsolveWatched = { tasks: [], objects: {} }
  const keep = (entries) => entries.forEach(({ startTime, duration }) => watched.tasks.push({ startTime, duration }))
  const observer = new PerformanceObserver((list) => keep(list.getEntries()))
  observer.observe({ type: 'longtask', buffered: true })
  watched.take = () => {
    keep(observer.takeRecords())
    return watched.tasks.splice(0)
  }
  for (const kind of ['Texture', 'Framebuffer', 'Buffer', 'Program', 'Shader', 'VertexArray', 'Sampler', 'Query'])
    for (const [verb, change] of [['create', 1], ['delete', -1]]) {
      const original = WebGL2RenderingContext.prototype[verb + kind]
      WebGL2RenderingContext.prototype[verb + kind] = function (...values) {
        if (verb === 'create' || values[0]) watched.objects[kind] = (watched.objects[kind] ?? 0) + change
        return original.apply(this, values)
      }
    }
}

/** The stacks of a profile in [from, to], in ms since the navigation: { 'file.js function > ...': ms }, the longest first. */
function stacksIn({ profile, offset }, from, to) {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  for (const node of profile.nodes) for (const child of node.children ?? []) nodes.get(child).parent = node
  const nameOf = ({ callFrame: { functionName, url } }) => {
    const file = /([^/]+)\.(js|wasm)$/.exec(url)?.[0] ?? ''
    return file.endsWith('.wasm') ? 'WebAssembly' : `${file} ${functionName || 'anonymous'}`.trim()
  }
  const total = {}
  let time = profile.startTime / 1000 - offset
  profile.samples.forEach((id, k) => {
    time += profile.timeDeltas[k] / 1000
    if (time < from || time > to) return
    const path = []
    for (let node = nodes.get(id); node?.parent; node = node.parent)
      if (nameOf(node) !== path[0]) path.unshift(nameOf(node))
    const stack = path.join(' > ')
    total[stack] = (total[stack] ?? 0) + (profile.timeDeltas[k + 1] ?? 0) / 1000
  })
  return Object.fromEntries(Object.entries(total).sort((a, b) => b[1] - a[1]).slice(0, 3).map(([stack, ms]) => [stack, Math.round(ms)]))
}

/** Watches a tab. Call instrumented(tab) before its navigation, and begin() after it. Then, now and then, look(). */
export class Watch {
  #samples = []
  #timer
  #isEnded = false
  #lookedUntil = 0 // when the page was free again after the last look, in ms since the navigation

  static instrumented = (tab) => tab.addInitScript(instrument)

  constructor(tab, folder) {
    Object.assign(this, { tab, folder })
  }

  async begin() {
    const { tab } = this
    this.session = await tab.context().newCDPSession(tab)
    await this.session.send('Performance.enable', { timeDomain: 'timeTicks' })
    await this.session.send('Profiler.enable')
    await this.session.send('Profiler.setSamplingInterval', { interval: PROFILE_US })
    const { metrics } = await this.session.send('Performance.getMetrics')
    this.offset = metrics.find(({ name }) => name === 'NavigationStart').value * 1000
    this.origin = await tab.evaluate(() => performance.timeOrigin)
    this.processes = await processesOf(this.folder)
    const sample = async () => {
      this.#samples.push(await processorMs(this.processes))
      if (this.#samples.length > 5000) this.#samples.splice(0, 1000)
      if (!this.#isEnded) this.#timer = setTimeout(sample, SAMPLE_MS)
    }
    await sample()
    await this.session.send('Profiler.start')
    this.from = this.#lookedUntil = await tab.evaluate(() => performance.now())
  }

  /** Memory in MB and objects now, and the long tasks since the last look that took more than `longMs`. */
  async look(longMs) {
    const { tab, session } = this
    const from = await tab.evaluate(() => performance.now())
    const { profile } = await session.send('Profiler.stop')
    const found = await tab.evaluate(async () => {
      window.gc?.()
      const { take, objects } = window.texsolveWatched
      return { tasks: take(), objects, heap: performance.memory.usedJSHeapSize,
        ...await window.texsolvePage.memory() }
    })
    const { tasks, objects, ...bytes } = found
    const seen = { profile, offset: this.offset }
    const long = tasks.filter(({ startTime, duration }) => duration > longMs && startTime >= this.#lookedUntil && startTime < from)
      .map((task) => this.#explain(task, seen))
    this.processes = await processesOf(this.folder)
    const memory = Object.fromEntries(Object.entries(bytes).map(([name, value]) => [name + 'MB', Number((value / 2 ** 20).toFixed(2))]))
    const resident = (kind) => Math.round(this.processes.reduce((sum, one) => sum + (one.kind === kind && one.residentMB), 0))
    memory.residentMB = { page: resident('renderer'), gpu: resident('gpu-process') }
    await session.send('Profiler.start')
    this.#lookedUntil = await tab.evaluate(() => performance.now())
    return { memory, objects, long }
  }

  // With less processor time than longMs, the task would be shorter if the browser did not have to wait for a processor.
  #explain({ startTime, duration }, seen) {
    const at = startTime + this.origin, until = at + duration
    const before = this.#samples.findLast((sample) => sample.at <= at) ?? this.#samples[0]
    const after = this.#samples.find((sample) => sample.at >= until) ?? this.#samples.at(-1)
    return { second: Math.round((startTime - this.from) / 1000), ms: Math.round(duration),
      processorMs: Object.fromEntries(['page', 'pageWaits', 'gpu'].map((name) => [name, Math.round(after[name] - before[name])])),
      doing: stacksIn(seen, startTime, startTime + duration) }
  }

  end() {
    this.#isEnded = true
    clearTimeout(this.#timer)
  }
}
