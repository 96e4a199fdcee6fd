#!/usr/bin/env bash
# Starts PostgreSQL with a synchronous standby, and three servers over it, on this machine, for a try. Needs PostgreSQL's programs (Debian: postgresql) and this checkout.
#
#   try.sh start         starts everything below ./several-hosts (or $HOLDFAST_TRY)
#   try.sh kill N        kills server N (1 to 3) with -9
#   try.sh serve N       starts it again
#   try.sh fail-over     kills the primary with -9, and promotes the standby
#   try.sh status        lists the servers, and what PostgreSQL says of its standby
#   try.sh stop          stops everything; the data stays
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
place=$(realpath -m "${HOLDFAST_TRY:-several-hosts}")
first_port=${HOLDFAST_TRY_PORT:-9000}
ports=(0 "$first_port" "$((first_port + 10))" "$((first_port + 20))")
primary_port=${HOLDFAST_TRY_PRIMARY_PORT:-5501}
standby_port=${HOLDFAST_TRY_STANDBY_PORT:-5502}

# Servers warn of variables that they don't read.
export -n HOLDFAST_TRY HOLDFAST_TRY_PORT HOLDFAST_TRY_PRIMARY_PORT HOLDFAST_TRY_STANDBY_PORT

programs=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
programs=${programs:-$(pg_config --bindir)}

# For a try only: real servers get keys of their own, and a key ring that a backup holds.
export HOLDFAST_ACCESS_KEY_ID=${HOLDFAST_ACCESS_KEY_ID:-several-hosts}
export HOLDFAST_SECRET_ACCESS_KEY=${HOLDFAST_SECRET_ACCESS_KEY:-only-for-a-try}
export HOLDFAST_METADATA_URL="postgres://holdfast@127.0.0.1:$primary_port,127.0.0.1:$standby_port/postgres"
export HOLDFAST_CONFIG="$place/holdfast.toml"

say() { printf '%s\n' "$*"; }

# PostgreSQL refuses to run as root.
as_postgres() {
  if [ "$(id -u)" = 0 ]; then setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; else "$@"; fi
}

sql() { "$programs/psql" -h 127.0.0.1 -p "$1" -U holdfast -d postgres -XAtqc "$2"; }

# database NAME PORT: starts the PostgreSQL of this name.
database() {
  as_postgres "$programs/pg_ctl" -D "$place/$1/data" -l "$place/$1/log" -w start \
    -o "-p $2 -c listen_addresses=127.0.0.1 -c unix_socket_directories=" >/dev/null
}

make_databases() {
  local name
  for name in primary standby; do
    mkdir -p "$place/$name"
    [ "$(id -u)" != 0 ] || chown nobody "$place/$name"
  done
  as_postgres "$programs/initdb" -D "$place/primary/data" -U holdfast -A trust -E UTF8 --no-locale >/dev/null
  database primary "$primary_port"
  as_postgres "$programs/pg_basebackup" -D "$place/standby/data" -R -C -S standby \
    -d "host=127.0.0.1 port=$primary_port user=holdfast application_name=standby"
  # From now on, a commit is answered when both have it.
  sql "$primary_port" "alter system set synchronous_standby_names = 'standby'"
  sql "$primary_port" 'select pg_reload_conf()' >/dev/null
}

# The second server and the third get the key ring of the first, as they would on hosts of their own.
serve() {
  local number=$1 data="$place/host$1"
  mkdir -p "$data"
  [ "$number" = 1 ] || export HOLDFAST_KEY_RING=${HOLDFAST_KEY_RING:-$(cat "$place/host1/keys")}
  setsid nohup node "$root/dist/joined/main.js" serve --data "$data" --listen "127.0.0.1:${ports[number]}" \
    --admin-listen "127.0.0.1:$((ports[number] + 1))" >"$place/host$number.log" 2>&1 </dev/null &
  echo $! >"$place/host$number.pid"
  for _ in $(seq 150); do
    ! grep -q '^ready' "$place/host$number.log" || { say "server $number: http://127.0.0.1:${ports[number]}"; return; }
    sleep 0.2
  done
  cat "$place/host$number.log" >&2
  exit 1
}

start() {
  [ -e "$root/dist/joined/main.js" ] || (cd "$root" && npm run build)
  mkdir -p "$place/stores"/{one,two,three}
  chmod a+x "$place"
  cp "$here/holdfast.toml" "$HOLDFAST_CONFIG"
  if [ ! -e "$place/primary/data" ]; then make_databases; else database primary "$primary_port"; fi
  [ -e "$place/standby/data/postmaster.pid" ] || database standby "$standby_port"
  say "PostgreSQL: primary on port $primary_port, synchronous standby on port $standby_port"
  for number in 1 2 3; do serve "$number"; done
  say "access key $HOLDFAST_ACCESS_KEY_ID, secret key $HOLDFAST_SECRET_ACCESS_KEY"
}

stop() {
  local number
  for number in 1 2 3; do kill "$(cat "$place/host$number.pid" 2>/dev/null)" 2>/dev/null || true; done
  for name in standby primary; do
    [ ! -e "$place/$name/data/postmaster.pid" ] || as_postgres "$programs/pg_ctl" -D "$place/$name/data" -m fast -w stop >/dev/null || true
  done
}

fail_over() {
  local pid
  pid=$(head -1 "$place/primary/data/postmaster.pid")
  kill -9 "$pid"
  # What is promoted must not come back as a second primary beside it.
  mv "$place/primary/data" "$place/primary/lost-$(date +%s)"
  as_postgres "$programs/pg_ctl" -D "$place/standby/data" -w promote >/dev/null
  say "the standby on port $standby_port is the primary now. It has no standby: give it one before you rely on it"
}

status() {
  node "$root/dist/joined/main.js" members --data "$place/host1"
  local port
  for port in "$primary_port" "$standby_port"; do
    sql "$port" "select 'PostgreSQL on port $port: ' || case when pg_is_in_recovery() then 'standby' else 'primary' end ||
      coalesce((select ', its standby is ' || sync_state from pg_stat_replication limit 1), '')" 2>/dev/null || say "PostgreSQL on port $port: down"
  done
}

case "${1:-}" in
  start) start ;;
  kill) kill -9 "$(cat "$place/host$2.pid")" && say "server $2 was killed" ;;
  serve) serve "$2" ;;
  fail-over) fail_over ;;
  status) status ;;
  stop) stop ;;
  *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
