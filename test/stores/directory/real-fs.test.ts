import { describeShardStore } from '../suite.ts'
import { realStoreUnderTest } from './opened-store.ts'

describeShardStore('a directory of the real file system', realStoreUnderTest)
