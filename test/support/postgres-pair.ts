/** A primary with one synchronous standby: the primary dies, the standby takes over, and a new standby is made before any write goes on. */
import { setTimeout as delay } from 'node:timers/promises'
import { PostgresServer } from './postgres.ts'

/** Whichever is the primary waits for whoever follows it. Without a standby, every commit waits. */
const settings = ['synchronous_standby_names=*', 'shared_buffers=64MB', 'max_connections=200']

export class PostgresPair {
  primary: PostgresServer
  standby: PostgresServer
  /** The ports of both, in no order. When one dies, another server takes over its port. */
  readonly ports: readonly [number, number]

  private constructor(primary: PostgresServer, standby: PostgresServer) {
    this.primary = primary
    this.standby = standby
    this.ports = [primary.port, standby.port]
  }

  static async start(): Promise<PostgresPair> {
    const primary = await PostgresServer.start(settings)
    try {
      return new PostgresPair(primary, await primary.standby())
    } catch (error) {
      await primary.remove()
      throw error
    }
  }

  /** For clients that reach both through other ports than theirs, in the same order. */
  url(ports: readonly number[] = this.ports): string {
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
    return `postgres://holdfast@${hosts}/postgres?target_session_attrs=read-write`
  }

  /** What a superuser reads of the primary, in one column. */
  ask(query: string): string {
    return this.primary.run('postgres', query)
  }

  /** Kills the primary and promotes the standby. Reads go on then; writes wait until the new standby follows. */
  async failOver(): Promise<void> {
    const dead = this.primary
    await dead.kill()
    this.primary = this.standby
    this.ask('select pg_promote(true, 60)')
    await dead.remove()
    this.standby = await this.primary.standby(dead.port)
  }

  /** The standby no longer follows, so every commit waits from now on. */
  async detach(): Promise<void> {
    this.standby.run('postgres', "alter system set primary_conninfo = ''")
    this.standby.run('postgres', 'select pg_reload_conf()')
    while (this.ask('select count(*) from pg_stat_replication') !== '0') await delay(20)
  }

  /** Gives up the waits of all commits for the standby, as an operator can. The number of those that waited. */
  cancelWaits(): number {
    return Number(this.ask("select count(pg_cancel_backend(pid)) from pg_stat_activity where wait_event = 'SyncRep'"))
  }

  async remove(): Promise<void> {
    await this.standby.remove()
    await this.primary.remove()
  }
}
