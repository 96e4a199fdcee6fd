#!/usr/bin/env bash
# Run once by the image of PostgreSQL, before the server of the first start: lets the standby in, and makes commits wait for it from then on.
set -euo pipefail
echo 'host replication holdfast all scram-sha-256' >>"$PGDATA/pg_hba.conf"
psql -U "$POSTGRES_USER" -d "$POSTGRES_DB" -c "alter system set synchronous_standby_names = 'standby'"
