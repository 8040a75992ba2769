#!/usr/bin/env bash
# Around the scheduler on the newest kernel: restarts, options, decisions in a recording, CPUs that go and come.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CPUS=2 on_kernel debian-7.2 guest/loader
done_testing
