import { openFarSide } from './far-side.ts'
import { describeOwnedRemoteBatches } from './owned-batches-suite.ts'

describeOwnedRemoteBatches('a bucket', openFarSide)
