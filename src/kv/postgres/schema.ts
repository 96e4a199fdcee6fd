/** The tables and functions in PostgreSQL, and how they are created. All other statements are in the files that run them. */

import { fenceCount } from './fences.ts'
import type { Session } from './session.ts'
import { ConfigurationRefused } from './session-rules.ts'

/**
 * Raise it with each change of the schema below, and add the upgrade to `openSchema`. A function with other parameters than before is another function to PostgreSQL, so
 * servers of the version before go on with theirs.
 */
const schemaVersion = 2

/** An arbitrary number, the same in all versions: the lock under which a process creates or upgrades the schema. */
const schemaLock = 7_204_117_311_001

/** An SQLSTATE in a class that PostgreSQL does not use. */
export const fencedCode = 'HF001'

const tables = `
create table holdfast_entries (key bytea not null, value bytea not null, version bigint not null, primary key (key))
  with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
alter table holdfast_entries alter column key set storage main, alter column value set storage external;
create sequence holdfast_versions;
create table holdfast_fences (id int primary key) with (fillfactor = 50);
insert into holdfast_fences select generate_series(0, ${fenceCount - 1});
create table holdfast_writers (id uuid primary key, epoch bigint not null, last bigint not null, failed int[] not null,
  opened timestamptz not null default now()) with (fillfactor = 20);
create table holdfast_notes (name text primary key, value text not null);
`

/**
 * Applies commits that do not conflict with each other, and returns the numbers of those whose checks failed. All callers take locks in the same order: fences by number, then rows
 * by key. They give both in that order, cut into runs that are locked alike (`lock-runs.ts`). Each statement sees what was committed before it began (READ COMMITTED), so a check made after locking holds until the end. Version 0 means that the key is absent.
 */
const commitFunction = `
create or replace function holdfast_commit(
  writer uuid, writer_epoch bigint, operation bigint,
  fence_ids int[], fence_ends int[], fence_alone bool[],
  lock_keys bytea[], lock_ends int[], lock_alone bool[],
  check_keys bytea[], check_versions bigint[], check_commits int[],
  empty_starts bytea[], empty_ends bytea[], empty_commits int[],
  new_keys bytea[], new_values bytea[], new_commits int[],
  put_keys bytea[], put_values bytea[], put_commits int[],
  delete_keys bytea[], delete_commits int[]
) returns int[] language plpgsql as $body$
declare
  refused int[];
  late int[];
  made bigint;
  wanted int;
  inserted int;
  locked int := 0;
begin
  for i in 1 .. cardinality(fence_ends) loop
    if fence_alone[i] then
      perform 1 from holdfast_fences where id = any(fence_ids[locked + 1 : fence_ends[i]]) order by id for update;
    else
      perform 1 from holdfast_fences where id = any(fence_ids[locked + 1 : fence_ends[i]]) order by id for key share;
    end if;
    locked := fence_ends[i];
  end loop;
  locked := 0;
  for i in 1 .. cardinality(lock_ends) loop
    if lock_alone[i] then
      perform 1 from holdfast_entries where key = any(lock_keys[locked + 1 : lock_ends[i]]) order by key for update;
    else
      perform 1 from holdfast_entries where key = any(lock_keys[locked + 1 : lock_ends[i]]) order by key for key share;
    end if;
    locked := lock_ends[i];
  end loop;
  select coalesce(array_agg(distinct c.commit), '{}') into refused
    from unnest(check_keys, check_versions, check_commits) as c(key, version, commit)
    where coalesce((select e.version from holdfast_entries e where e.key = c.key), 0) <> c.version;
  if cardinality(empty_starts) > 0 then
    refused := refused || (select coalesce(array_agg(distinct r.commit), '{}')
      from unnest(empty_starts, empty_ends, empty_commits) as r(first, behind, commit)
      where exists (select 1 from holdfast_entries e where e.key >= r.first and e.key < r.behind));
  end if;
  made := nextval('holdfast_versions');
  if cardinality(new_keys) > 0 then
    select count(*) into wanted from unnest(new_commits) as n(commit) where n.commit <> all(refused);
    insert into holdfast_entries (key, value, version)
      select n.key, n.value, made from unnest(new_keys, new_values, new_commits) as n(key, value, commit)
      where n.commit <> all(refused) order by n.key on conflict (key) do nothing;
    get diagnostics inserted = row_count;
    if inserted < wanted then
      select array_agg(distinct n.commit) into late from unnest(new_keys, new_commits) as n(key, commit)
        where n.commit <> all(refused)
        and coalesce((select e.version from holdfast_entries e where e.key = n.key), 0) <> made;
      delete from holdfast_entries where version = made and key = any(array(
        select n.key from unnest(new_keys, new_commits) as n(key, commit) where n.commit = any(late)));
      refused := refused || late;
    end if;
  end if;
  insert into holdfast_entries (key, value, version)
    select p.key, p.value, made from unnest(put_keys, put_values, put_commits) as p(key, value, commit)
    where p.commit <> all(refused) order by p.key
    on conflict (key) do update set value = excluded.value, version = excluded.version;
  delete from holdfast_entries where key = any(array(
    select d.key from unnest(delete_keys, delete_commits) as d(key, commit) where d.commit <> all(refused)));
  update holdfast_writers set last = operation, failed = refused where id = writer and epoch = writer_epoch;
  if not found then raise exception 'this writer was told to stop' using errcode = '${fencedCode}'; end if;
  return refused;
end
$body$;
`

/**
 * Returns the first entry of each group of keys (`Fold` in kv.ts). Reads on within a short group, and seeks past a long one. Stops after a key whose group it can't determine: one
 * whose text holds a NUL before any delimiter. STABLE, so that all of its reads use one snapshot.
 */
const foldFunction = `
create or replace function holdfast_fold(
  first_key bytea, end_key bytea, most int, head_bytes int, from_byte int, delimiter bytea, is_tail bool
) returns table (key bytea, value bytea, version bigint) language plpgsql stable as $body$
declare
  found_entry record;
  next_key bytea := first_key;
  behind bytea;
  plain bytea;
  nul int;
  at int;
  n int;
  given int := 0;
  skipped int;
  sought bool := true;
begin
  while sought and given < most loop
    sought := false;
    behind := null;
    skipped := 0;
    for found_entry in select e.key, e.value, e.version from holdfast_entries e
      where e.key >= next_key and e.key < end_key order by e.key
    loop
      if behind is not null and found_entry.key < behind then
        skipped := skipped + 1;
        if skipped < 24 then continue; end if;
        next_key := behind;
        sought := true;
        exit;
      end if;
      behind := null;
      skipped := 0;
      key := found_entry.key;
      value := found_entry.value;
      version := found_entry.version;
      return next;
      given := given + 1;
      exit when given = most;
      plain := substr(key, head_bytes + 1);
      nul := 0;
      if not is_tail then
        nul := position('\\x00'::bytea in plain);
        plain := substr(plain, 1, nul - 1);
      end if;
      at := position(delimiter in substr(plain, from_byte + 1));
      if at > 0 then
        n := head_bytes + from_byte + at - 1 + length(delimiter);
        while n > 0 and get_byte(key, n - 1) = 255 loop n := n - 1; end loop;
        if n = 0 then return; end if;
        behind := set_byte(substr(key, 1, n), n - 1, get_byte(key, n - 1) + 1);
      elsif nul > 0 and get_byte(key, head_bytes + nul) <> 0 then
        return;
      end if;
    end loop;
  end loop;
end
$body$;
`

/** Creates the schema if it is missing. Several gateways can call it at once. Rejects with `ConfigurationRefused` for a schema of a later version. */
export async function openSchema(session: Session): Promise<void> {
  if ((await versionIn(session)) === schemaVersion) return
  await session.run({ text: 'begin' })
  try {
    await session.run({ text: `select pg_advisory_xact_lock(${schemaLock})` })
    const version = await versionIn(session)
    if (version !== undefined && version > schemaVersion) {
      throw new ConfigurationRefused(
        `the database holds metadata of a later version of Holdfast (schema ${version}; this one knows ${schemaVersion})`,
      )
    }
    if (version !== schemaVersion) {
      await session.run({ text: (version === undefined ? tables : '') + commitFunction + foldFunction })
      const note = `insert into holdfast_notes values ('schema', '${schemaVersion}') on conflict (name) do update set value = excluded.value`
      await session.run({ text: note })
    }
    await session.run({ text: 'commit' })
  } catch (error) {
    await session.run({ text: 'rollback' }).catch(() => {})
    throw error
  }
}

async function versionIn(session: Session): Promise<number | undefined> {
  // `to_regclass` would not do: within a transaction, the server remembers that the table was missing.
  const [table] = await session.run({
    text: "select 1 from pg_class where relname = 'holdfast_notes' and relnamespace = current_schema()::regnamespace",
  })
  if (table === undefined) return undefined
  const [noted] = await session.run({ text: `select value from holdfast_notes where name = 'schema'` })
  return Number(noted?.[0])
}
