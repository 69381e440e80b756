// Reads the module from a file, in Node.
import { readFile } from 'node:fs/promises'
import { setReader } from './load.js'

setReader(source => {
  const text = String(source)
  return text.startsWith('http') ? fetch(text) : readFile(text.startsWith('file:') ? new URL(text) : text)
})
