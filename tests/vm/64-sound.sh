#!/usr/bin/env bash
# The sound sensor with a sound card, on our own kernel; and the socket sensor's hooks on a kernel without the tracepoint.
. tests/tap.sh

export LIMIT=600 CPUS=1
CMD=tests/guest/sound.sh KERNEL=scx guest
is "every hook of the sound sensor" $? 0
CMD='tests/guest/sound.sh files' KERNEL=scx CLOCK=virtual guest
is "a card's thread by its clock and its open files, in virtual time" $? 0
# The server and who asks it side by side: on one CPU it would hardly ever have to wait.
CMD=tests/host/65-socket.sh KERNEL=debian-6.1 CPUS=2 LIMIT=300 guest
is "the socket sensor by fexit and kprobe" $? 0
done_testing
