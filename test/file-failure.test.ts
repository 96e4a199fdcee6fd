import { expect, test } from 'vitest'
import { failureText, fileFailure } from '../src/file-failure.ts'

const failed = (code: string, syscall: string, more = {}) =>
  Object.assign(new Error(`${code}: as libuv says it, ${syscall}`), { code, syscall, errno: -1 }, more)

test.each([
  [failed('EACCES', 'open', { path: '/x' }), /^cannot open \/x: permission denied\. .* \(EACCES\)$/],
  [
    failed('ENOENT', 'scandir', { path: '/x' }),
    /^cannot list \/x: there is no such file or directory\. Check the path/,
  ],
  [failed('ENOSPC', 'write'), /^cannot write a file: no space is left on that device\. Make room/],
  [
    failed('EROFS', 'mkdir', { path: '/x' }),
    /^cannot make the directory \/x: that file system is mounted read-only\. Mount/,
  ],
  [failed('EMFILE', 'open', { path: '/x' }), /too many files open\. Raise its limit \(`ulimit -n`\)/],
  [failed('EXDEV', 'rename'), /as libuv says it/],
  [failed('ENOTEMPTY', 'rename', { path: '/a', dest: '/b' }), /^cannot rename \/a to \/b: /],
])('a failure of a file names what, why, and what to do: %s', (error, message) => {
  expect(failureText(error)).toMatch(message)
})

test.each([new Error('x'), failed('ECONNREFUSED', 'connect'), failed('EACCES', 'listen'), 'EACCES'])(
  'what is no failure of a file is left alone: %s',
  (error) => {
    expect(fileFailure(error)).toBeUndefined()
  },
)
