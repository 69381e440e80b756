// Figures of the page: node web/tests/browser/figures.mjs [SECONDS]
//
//   first picture   ms from the navigation to the first drawn frame of the fluid, with an empty and a filled cache
//   fluid           SECONDS (default 20) of fluid, and
//   contact         of the contact part, each after 3 s for the start: long tasks, memory and WebGL objects
//
// A line of JSON each minute, or at each third of a shorter time, and a summary as JSON on the last line. If the run ends
// early, the last line has the cause instead, and the exit status is not 0.
//   long       tasks of more than 200 ms: when, how long, what the page did, and the processor time in it: of the page, of the
//              GPU process, and how long the page was ready but waited for a processor. A task with less than 200 ms of
//              processor time would be shorter if no other programs ran
//   heapMB     JavaScript after a collection; moduleMB and deviceMB: the module's memory and the library's textures;
//              residentMB: what the processes of pages, with their workers, and the GPU process occupy
//   objects    WebGL objects that were made and not deleted
// The machine's other work counts: compare runs on an idle machine.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { flags, serve } from './browser.mjs'
import { Watch } from './watch.mjs'

const seconds = Number(process.argv[2] ?? 20)
const START_MS = 3000, LONG_MS = 200, ANSWER_MS = 120000

// ---- A run that ends always says why ----

const figures = {}
let doing = 'starting', isDone = false
const say = (line) => console.log(JSON.stringify(line))
process.on('exit', (code) => {
  if (isDone) return
  say({ endedEarly: `exit status ${code} while ${doing}`, ...figures })
  process.exitCode ||= 1
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    doing += ` (${signal})`
    process.exit(1)
  })

/** Waits for an answer of the browser. A page that crashed, or that does not answer, is an error. */
async function step(what, promise, broken) {
  doing = what
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer of the browser in ${ANSWER_MS / 1000} s while ${what}`)), ANSWER_MS)
  })
  try {
    return await Promise.race([promise, late, broken])
  } finally {
    clearTimeout(timer)
  }
}

async function withBrowser(folder, use) {
  const context = await chromium.launchPersistentContext(folder, { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true, args: [...flags, '--js-flags=--expose-gc'], viewport: { width: 1280, height: 800 }, serviceWorkers: 'block' })
  try {
    const tab = await context.newPage()
    await Watch.instrumented(tab)
    const broken = new Promise((_, reject) => {
      tab.on('crash', () => reject(new Error('the page crashed')))
      context.on('close', () => reject(new Error('the browser ended')))
    })
    broken.catch(() => {})
    return await use(tab, broken)
  } finally {
    await context.close()
  }
}

async function firstPicture(tab, url) {
  await tab.goto(url + '#fluid')
  await tab.waitForFunction(() => performance.getEntriesByName('first picture').length, undefined, { timeout: 60000, polling: 50 })
  return tab.evaluate(() => Math.round(performance.getEntriesByName('first picture')[0].startTime))
}

/** Pushes the fluid and draws walls, as a person would. */
async function play(tab, turn) {
  const angle = turn * 0.7
  const button = turn % 8 ? 'left' : 'right'
  await tab.mouse.move(500 + 300 * Math.cos(angle), 400 + 200 * Math.sin(1.3 * angle))
  await tab.mouse.down({ button })
  await tab.mouse.move(500 + 300 * Math.cos(angle + 0.9), 400 + 200 * Math.sin(1.3 * angle + 1.1), { steps: 8 })
  await tab.mouse.up({ button })
  if (turn % 20 === 0) await tab.keyboard.press('c')
  await tab.waitForTimeout(200)
}

/** Drags and throws bodies, adds balls, and changes the scene now and then, as a person would. */
async function throwBodies(tab, turn) {
  const angle = turn * 0.7
  await tab.mouse.move(450 + 200 * Math.cos(angle), 500 + 150 * Math.sin(1.3 * angle))
  await tab.mouse.down()
  await tab.mouse.move(450 + 250 * Math.cos(angle + 0.9), 350 + 150 * Math.sin(angle), { steps: 8 })
  await tab.mouse.up()
  if (turn % 40 === 0) await tab.keyboard.press('n')
  await tab.waitForTimeout(300)
}

/** Long tasks, memory and objects while `act` uses the part. */
async function watch(part, tab, folder, act, broken) {
  await step(`starting the ${part}`, tab.waitForTimeout(START_MS), broken)
  const watching = new Watch(tab, folder), found = figures[part] = { minutes: [], long: [] }
  const start = Date.now(), every = Math.min(60, seconds / 3)
  const look = async () => {
    const { memory, objects, long } = await step(`looking at the ${part}`, watching.look(LONG_MS), broken)
    const line = { second: Math.round((Date.now() - start) / 1000), turns: turn, ...memory, objects }
    found.minutes.push(line)
    found.long.push(...long)
    say({ part, ...line, long })
  }
  let turn = 0
  await step(`beginning to watch the ${part}`, watching.begin(), broken)
  try {
    await look()
    for (let next = every; next < seconds + every / 2; next += every) {
      while (Date.now() - start < next * 1000) await step(`using the ${part}, turn ${turn}`, act(tab, ++turn), broken)
      await look()
    }
  } finally {
    watching.end()
  }
}

const server = await serve()
const folder = await mkdtemp(join(tmpdir(), 'texsolve-figures-'))
try {
  figures.coldMs = await withBrowser(folder, (tab, broken) => step('the first picture, cold', firstPicture(tab, server.url), broken))
  await withBrowser(folder, async (tab, broken) => {
    figures.warmMs = await step('the first picture, warm', firstPicture(tab, server.url), broken)
    say(figures)
    await watch('fluid', tab, folder, play, broken)
    Object.assign(figures.fluid, await tab.evaluate(() => ({ quality: texsolvePage.quality(), frameMs: texsolvePage.frameMs() })))
  })
  await withBrowser(folder, async (tab, broken) => {
    await tab.goto(server.url + '#contact')
    await tab.waitForSelector('.part-contact')
    await watch('contact', tab, folder, throwBodies, broken)
  })
  isDone = true
  say(figures)
} catch (error) {
  doing += `: ${error.message}`
  throw error
} finally {
  await rm(folder, { recursive: true, force: true })
  await server.close()
}
