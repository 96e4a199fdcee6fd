import { describeShardStore } from '../suite.ts'
import { openFarSide, remoteUnderTest } from './far-side.ts'

describeShardStore('a bucket of another server', () => remoteUnderTest(openFarSide))
