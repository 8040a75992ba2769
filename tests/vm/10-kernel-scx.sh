#!/usr/bin/env bash
# Our own kernel, with sched_ext: real hooks, accounts and recordings.
. tests/tap.sh
. tests/kernel.sh

on_kernel scx
done_testing
