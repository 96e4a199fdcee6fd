/** The files of an input, or those dropped on the page. A folder counts with everything in it. */
import type { ChosenFile } from './uploads.ts'

export const filesOfInput = (list: FileList): ChosenFile[] =>
  [...list].map((file) => ({ path: file.webkitRelativePath || file.name, file }))

export async function filesOfDrop(transfer: DataTransfer): Promise<ChosenFile[]> {
  // The browser empties the list at the first await.
  const found = await Promise.all([...transfer.items].map(filesOfItem))
  return found.flat()
}

/** What comes from another page or program may be a file without an entry in a file system. */
async function filesOfItem(item: DataTransferItem): Promise<ChosenFile[]> {
  const entry = item.webkitGetAsEntry()
  if (entry !== null) return filesBelow(entry, '')
  const file = item.getAsFile()
  return file === null ? [] : [{ path: file.name, file }]
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

/** Each call of the reader gives about a hundred entries, and none at the end. */
async function entriesOf(directory: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = directory.createReader()
  const all: FileSystemEntry[] = []
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return all
    all.push(...some)
  }
}
