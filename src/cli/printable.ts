/** Lines for a terminal. Names come from clients and other servers, and may hold anything. Pure. */

/** Escapes characters that act on a terminal or start a line, as in JSON. */
export const printable = (line: string): string => line.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, escaped)

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
