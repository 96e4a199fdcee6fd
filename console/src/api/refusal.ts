/** A refusal by the server, in its own words. The same for S3 and the admin API. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string

  /** If the server sent neither code nor message, the status has to do. */
  constructor(status: number, code: string | undefined, message: string | undefined) {
    super(message ?? statusTexts[status] ?? `The server answered ${status}.`)
    this.name = 'Refusal'
    this.status = status
    this.code = code ?? String(status)
  }
}

const statusTexts: Record<number, string> = {
  403: 'You may not do this.',
  404: 'This does not exist.',
  412: 'It has changed in the meantime.',
  503: 'The server is busy or cannot reach its metadata. Try again.',
}
