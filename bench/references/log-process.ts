/**
 * A preallocated log alone: `log-process DIRECTORY BYTES SECONDS` lets 64 writers append records of that size, each waiting until its record
 * is on stable storage, with one write and one fdatasync for all that wait. Prints records a second.
 */
import { randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'

const [directory = '.', ...numbers] = process.argv.slice(2)
const [recordBytes = 0, seconds = 0] = numbers.map(Number)
const writers = 64
const logBytes = 256 * 1024 * 1024
const zeros = Buffer.alloc(4 * 1024 * 1024)

const file = await open(join(directory, 'log'), 'w')
for (let at = 0; at < logBytes; at += zeros.length) await file.write(zeros, 0, zeros.length, at)
await file.datasync()

const record = randomBytes(recordBytes)
let waiting: (() => void)[] = []

async function append(): Promise<void> {
  await new Promise<void>((resolve) => {
    waiting.push(resolve)
  })
}

let written = 0
let isOver = false

async function syncGroups(): Promise<void> {
  let at = 0
  while (waiting.length > 0) {
    const group = waiting
    waiting = []
    const bytes = group.length * recordBytes
    if (at + bytes > logBytes) at = 0
    await file.writev(
      group.map(() => record),
      at,
    )
    await file.datasync()
    at += bytes
    written += group.length
    for (const resolve of group) resolve()
    // Those that were answered append again before the next group is taken.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

async function write(): Promise<void> {
  while (!isOver) await append()
}

const beganMs = performance.now()
setTimeout(() => {
  isOver = true
}, seconds * 1000)
const all = Promise.all(Array.from({ length: writers }, write))
await syncGroups()
await all
process.stdout.write(`${Math.round((written * 1000) / (performance.now() - beganMs))}\n`)
await file.close()
