// Chromium for the tests of the package, and the pages that they open. TEXSOLVE_BROWSER_GL=swiftshader selects SwiftShader.
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { serve } from '../../serve.mjs'

const here = path.dirname(fileURLToPath(import.meta.url))
export const webPath = path.resolve(here, '../..')
export const packagePath = path.resolve(process.env.TEXSOLVE_PACKAGE ?? path.join(webPath, '../build-web/package'))

const renderer = process.env.TEXSOLVE_BROWSER_GL === 'swiftshader' || !process.env.DISPLAY
  ? ['--use-angle=swiftshader', '--enable-unsafe-swiftshader'] : ['--use-angle=gl']

/** A browser and a server. `places` adds directories. Messages of the console that warn or fail are collected. */
export async function start(places = {}) {
  const server = await serve({ '/package/': packagePath, '/three/': path.join(webPath, 'node_modules/three/build'),
    '/files/': path.join(here, 'files'), ...places })
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--ignore-gpu-blocklist', ...renderer] })
  const context = await browser.newContext({ viewport: { width: 800, height: 600 } })
  const warnings = []
  const newPage = async (address = 'files/empty.html') => {
    const page = await context.newPage()
    page.on('console', message => {
      // SwiftShader notes that a read-back waits, which is what synchronous calls ask for.
      if (['warning', 'error'].includes(message.type()) && !/loseContext|GPU stall due to ReadPixels/.test(message.text())) warnings.push(message.text())
    })
    page.on('pageerror', error => warnings.push(String(error)))
    await page.goto(server.address + address)
    return page
  }
  return { server, browser, newPage, warnings, stop: async () => { await browser.close(); await server.close() } }
}
