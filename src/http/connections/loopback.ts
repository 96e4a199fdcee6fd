/** Whether a connection stays on this machine. */
const loopback = /^(?:(?:::ffff:)?127\.\d+\.\d+\.\d+|::1)$/i

/** Addresses as a socket gives them. One is missing when the socket has none, or its other end has gone. */
interface Ends {
  remoteAddress?: string | undefined
  localAddress?: string | undefined
}

export function bothEndsLoopback({ remoteAddress, localAddress }: Ends): boolean {
  return loopback.test(remoteAddress ?? '') && loopback.test(localAddress ?? '')
}
