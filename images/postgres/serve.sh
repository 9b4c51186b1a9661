#!/bin/sh
# Makes a data folder with an empty database and its owner, and serves it: the same as on one machine.
set -eu
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
data=${PGDATA:-/tmp/pgdata}
"$bin/initdb" -D "$data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync --wal-segsize=1 > /dev/null
# No superuser: the app's own SQL must not be able to end the server.
"$bin/postgres" --single -F -D "$data" postgres > /dev/null << 'SQL'
CREATE ROLE app LOGIN CREATEDB PASSWORD 'app'
CREATE DATABASE app OWNER app
SQL
# Kubelet looks for it at the pod's address; only loopback is let in (initdb's pg_hba.conf).
exec "$bin/postgres" -D "$data" -p 5432 -c unix_socket_directories= -c listen_addresses='*' \
  -c fsync=off -c full_page_writes=off -c logging_collector=off
