#!/usr/bin/env bash
# Ten minutes of stress-ng's stressors under the scheduler, after everything else that crowds do.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CPUS=2 LIMIT=7200 on_kernel debian-7.2 guest/crowds:600
done_testing
