/**
 * Every checksum, in every way that it may travel, right, wrong, malformed and together with another, on every operation that takes or makes one.
 * Values come from implementations of the tests' own, which checksum-references.test.ts holds to published ones.
 */
import { completionRows } from '../support/wire-checksum-completions.ts'
import { copyObjectRows, uploadPartCopyRows } from '../support/wire-checksum-copies.ts'
import { putObjectRows, uploadPartRows } from '../support/wire-checksum-puts.ts'
import { wireTests } from '../support/wire-rows.ts'

wireTests('PutObject', putObjectRows, { hostings: ['path'] })
wireTests('UploadPart', uploadPartRows, { hostings: ['path'] })
wireTests('CompleteMultipartUpload', completionRows, { hostings: ['path'] })
wireTests('CopyObject', copyObjectRows, { hostings: ['path'] })
wireTests('UploadPartCopy', uploadPartCopyRows, { hostings: ['path'] })
