import { openFarSide } from './far-side.ts'
import { describeRemoteStore } from './remote-suite.ts'

describeRemoteStore('a bucket of another server', openFarSide)
