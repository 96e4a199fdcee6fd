/** S3's HTML error pages, for websites without their own. Text from a request or an object is always escaped. */
import { STATUS_CODES } from 'node:http'
import type { S3Error } from '../../errors.ts'
import type { Exchange } from '../exchange.ts'
import { escapeXml } from '../xml/xml-write.ts'

/** The object that was asked for, and the error page that could not be shown. */
export interface FailedPage {
  fault: S3Error
  key: string
  errorPage?: { fault: S3Error; key: string } | undefined
}

export function failurePage({ fault, key, errorPage }: FailedPage, { requestId, hostId }: Exchange): Buffer {
  const title = `${fault.status} ${STATUS_CODES[fault.status] ?? ''}`
  const items = [...aboutFault(fault, key), ['RequestId', requestId], ['HostId', hostId]] as const
  const nested =
    errorPage === undefined
      ? ''
      : `<h3>An Error Occurred While Attempting to Retrieve a Custom Error Document</h3>\n${list(aboutFault(errorPage.fault, errorPage.key))}`
  return Buffer.from(
    `<html>\n<head><title>${title}</title></head>\n<body>\n<h1>${title}</h1>\n${list(items)}${nested}<hr/>\n</body>\n</html>\n`,
  )
}

function aboutFault({ code, message, details }: S3Error, key: string): (readonly [string, string])[] {
  const ofKey = code === 'NoSuchKey' ? { Key: key } : {}
  return [['Code', code], ['Message', message], ...Object.entries({ ...details, ...ofKey })]
}

const list = (entries: readonly (readonly [string, string])[]): string =>
  `<ul>\n${entries.map(([name, value]) => `<li>${name}: ${escapeXml(value)}</li>\n`).join('')}</ul>\n`
