#!/bin/sh
# guard.sh process|group PROGRAM …: becomes the program and leaves a watcher beside it. Descriptor 3 is a pipe from whoever started
# it: when that breaks off, also by `kill -9`, the watcher ends the program, or its whole process group. A line on it sends the
# watcher away.
that=$$
[ "$1" = group ] && that=-$$
shift
(
  trap "" HUP INT TERM
  read -r _ <&3 || kill -s KILL -- "$that"
) >/dev/null 2>&1 &
exec "$@" 3<&-
