#!/bin/sh
# guard.sh process|group PROGRAM …: starts a watcher and becomes the program. Descriptor 3 is a pipe from the process that started
# it: when the pipe closes, also after `kill -9`, the watcher kills the program, or its whole process group. A line on the pipe ends
# the watcher.
that=$$
[ "$1" = group ] && that=-$$
shift
(
  trap "" HUP INT TERM
  read -r _ <&3 || kill -s KILL -- "$that"
) >/dev/null 2>&1 &
exec "$@" 3<&-
