/** The files of an input or of what was dropped on the page, folders with all that is in them. */
import type { ChosenFile } from './uploads.ts'

export const filesOfInput = (list: FileList): ChosenFile[] =>
  [...list].map((file) => ({ path: file.webkitRelativePath || file.name, file }))

export async function filesOfDrop(transfer: DataTransfer): Promise<ChosenFile[]> {
  // The list is empty after the first await.
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? [])
  const found = await Promise.all(entries.map((entry) => filesBelow(entry, '')))
  return found.flat()
}

async function filesBelow(entry: FileSystemEntry, folder: string): Promise<ChosenFile[]> {
  const path = folder + entry.name
  if (isFile(entry)) return [{ path, file: await new Promise((resolve, reject) => entry.file(resolve, reject)) }]
  if (!isDirectory(entry)) return []
  const found: ChosenFile[] = []
  for (const inner of await entriesOf(entry)) found.push(...(await filesBelow(inner, `${path}/`)))
  return found
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile
const isDirectory = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory

/** A reader gives about a hundred at a time, and none at the end. */
async function entriesOf(directory: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = directory.createReader()
  const all: FileSystemEntry[] = []
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return all
    all.push(...some)
  }
}
