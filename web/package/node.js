// texsolve in Node: the same package; the module is read from its file.
import { readFile } from 'node:fs/promises'
import { setReader } from './load.js'

setReader(source => {
  const text = String(source)
  return text.startsWith('http') ? fetch(text) : readFile(text.startsWith('file:') ? new URL(text) : text)
})

export * from './texsolve.js'
