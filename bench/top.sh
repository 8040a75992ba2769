#!/usr/bin/env bash
# What 'tactus top' costs beside procps' top, all at a screen a second in terminals of the same size, at the same time: bench/top.sh [SECONDS].
# Needs root and tmux. Only the time of the processes themselves: what hooks cost others is bench/overhead.sh's.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-30}
export TMUX_TMPDIR
TMUX_TMPDIR=$(mktemp -d)
server=(tmux -L bench-top -f /dev/null)
trap '"${server[@]}" kill-server 2>/dev/null; rm -rf "$TMUX_TMPDIR"' EXIT

begin() { "${server[@]}" new-session -d -s "$1" -x 80 -y 24 "exec env LC_ALL=C.UTF-8 $2"; }
spent_ns() { awk '{ print $1 }' "/proc/$("${server[@]}" list-panes -t "$1" -F '#{pane_pid}')/schedstat"; }
count() { awk -v what="$1" '$1 == what { print $2 }' /proc/stat; }

begin tactus "build/tactus top"
begin procs "top -d 1"
begin threads "top -H -d 1"
until "${server[@]}" capture-pane -p -t tactus | grep -qE '^CPUs .* [1-9][0-9]* switches/s'; do sleep 0.2; done
sleep 2
declare -A before
for name in tactus procs threads; do before[$name]=$(spent_ns $name); done
switches=$(count ctxt)
sleep "$seconds"
declare -A ns
for name in tactus procs threads; do ns[$name]=$((($(spent_ns $name) - before[$name]) / seconds)); done
switches=$((($(count ctxt) - switches) / seconds))
awk -v t="${ns[tactus]}" -v p="${ns[procs]}" -v h="${ns[threads]}" -v s="$switches" -v threads="$(ps -eLo tid= | wc -l)" 'BEGIN {
	printf "a second, at %d switches a second and %d threads: tactus top %.2f ms, top %.2f ms, top -H %.2f ms\n", s, threads, t / 1e6, p / 1e6, h / 1e6
	printf "tactus top / top: %.2f    tactus top / top -H: %.2f\n", t / p, t / h
}'
