#!/bin/sh
# Runs commands that the warden or the harness leaves in a shared folder, one after another.
#
# usage: shim.sh FOLDER         run, as the first process of a container
#        shim.sh FOLDER stop    end it (the container's preStop hook)
#
#   FOLDER/cmd.N          what to run: written elsewhere, then renamed to here; N counts from 1
#   FOLDER/home.N/        files for $HOME, copied before cmd.N starts
#   FOLDER/out.N, err.N   what it printed
#   FOLDER/sig.N.NAME     send signal NAME to the main process of command N, once
#   FOLDER/killall        end every process of this container but this one, once
#   FOLDER/exit.N         exit code of command N; above 128 it is 128 and the signal
#   FOLDER/end            stop when nothing runs
#
# POSIX sh, mv, cp, rm and sleep are all that an image needs to have. The command runs in the
# foreground, since a shell starts background commands with SIGINT ignored for good; a watcher
# beside it passes signals on.
set -u
folder=${1:?usage: shim.sh FOLDER [stop]}
umask 002

tick() { sleep 0.1 2>/dev/null || sleep 1; }

if [ "${2:-}" = stop ]; then
  : > "$folder/end"
  for request in "$folder"/pid.*; do
    [ -e "$request" ] && : > "$folder/sig.${request##*.}.INT"
  done
  waited=0
  while [ -e "$folder/running" ] && [ "$waited" -lt 50 ]; do
    tick
    waited=$((waited + 1))
  done
  : > "$folder/killall"
  exit 0
fi

watch() {
  while :; do
    for request in "$folder"/sig.*; do
      [ -e "$request" ] || continue
      name=${request##*.}
      rest=${request%.*}
      rm -f "$request"
      pid=$(cat "$folder/pid.${rest##*.}" 2>/dev/null) && kill -s "$name" "$pid" 2>/dev/null
    done
    if [ -e "$folder/killall" ]; then
      rm -f "$folder/killall"
      kill -KILL -1 2>/dev/null
    fi
    tick
  done
}

watch &
watcher=$!
number=1
: > "$folder/ready"
while :; do
  # A command may have ended everything that is its user's, as `kill -9 -1` does.
  if ! kill -0 "$watcher" 2>/dev/null; then
    watch &
    watcher=$!
  fi
  if [ -e "$folder/cmd.$number" ]; then
    if [ -d "$folder/home.$number" ]; then cp -R "$folder/home.$number/." "$HOME/"; fi
    : > "$folder/running"
    sh -c 'echo $$ > "$1/pid.$2"; exec sh "$1/cmd.$2"' shim "$folder" "$number" \
      > "$folder/out.$number" 2> "$folder/err.$number" < /dev/null
    code=$?
    rm -f "$folder/pid.$number" "$folder/running"
    echo "$code" > "$folder/.exit.$number"
    mv "$folder/.exit.$number" "$folder/exit.$number"
    number=$((number + 1))
  elif [ -e "$folder/end" ]; then
    exit 0
  else
    tick
  fi
done
