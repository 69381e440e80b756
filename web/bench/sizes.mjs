// The sizes of the package as browsers download it: node web/bench/sizes.mjs [BUILD]
// JavaScript is bundled and minified by esbuild, as a user's bundler does it; brotli at its highest quality.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { build } from 'esbuild'

const directory = path.resolve(process.argv[2] ?? 'build-web', 'package')
const compressed = bytes => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 22 } }).length
const kb = bytes => `${(bytes / 1000).toFixed(1).padStart(7)} kB`

for (const [title, name] of [['everything', 'texsolve'], ['texsolve/core', 'core']]) {
  const { outputFiles: [script] } = await build({ entryPoints: [path.join(directory, `${name}.js`)], bundle: true, minify: true, format: 'esm', write: false })
  const wasm = await readFile(path.join(directory, `${name}.wasm`))
  const sizes = [wasm, script.contents].map(bytes => [bytes.length, compressed(bytes)])
  const sum = sizes.reduce((total, [, small]) => total + small, 0)
  console.log(`${title.padEnd(14)} ${kb(sum)} by brotli: WebAssembly ${kb(sizes[0][1])} of ${kb(sizes[0][0])}, JavaScript ${kb(sizes[1][1])} of ${kb(sizes[1][0])}`)
}
