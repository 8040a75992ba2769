#!/usr/bin/env bash
# Whatever kernel is Debian's newest today: what works, threads' accounts and recordings; the scheduler comes and goes.
# kernel: debian-newest debian-7.2
. tests/tap.sh
. tests/kernel.sh

image_of() { readlink -f "$(vm/kernel.sh "$1")/image"; }
if [ "$(image_of debian-newest)" = "$(image_of debian-7.2)" ]; then
	skip "the newest kernel" "it is debian-7.2, which has tests of its own"
else
	CPUS=2 on_kernel debian-newest host/20-doctor host/50-tasks guest/run
fi
done_testing
