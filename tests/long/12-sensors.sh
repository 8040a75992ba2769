#!/usr/bin/env bash
# Every sensor on every kernel that the VM has.
# kernel: debian-6.1 debian-6.12 debian-6.18 debian-7.2 scx
. tests/tap.sh
. tests/kernel.sh

for kernel in debian-6.1 debian-6.12 debian-6.18 debian-7.2 scx; do
	CPUS=2 LIMIT=3600 on_kernel $kernel host/10-cpus host/20-doctor host/50-tasks host/51-record host/52-truth host/77-migrations guest/hotplug guest/wakers guest/cuda_calls host/64-wine-fake
	CPUS=1 LIMIT=3600 on_kernel $kernel guest/launch
	CLOCK=virtual LIMIT=3600 on_kernel $kernel host/10-cpus host/52-truth guest/learned
done
for kernel in debian-6.18 scx; do
	CPUS=2 LIMIT=3600 on_kernel $kernel guest/run guest/loader guest/faults guest/crowds guest/hints:killed
	CLOCK=virtual LIMIT=3600 on_kernel $kernel guest/share guest/groups
done
done_testing
