import { describeShardStore } from '../suite.ts'
import { simulatedStoreUnderTest } from './opened-store.ts'

describeShardStore('a directory of the simulated file system', simulatedStoreUnderTest)
