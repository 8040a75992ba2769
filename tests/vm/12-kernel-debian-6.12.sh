#!/usr/bin/env bash
# Debian's 6.12: real hooks, accounts and recordings.
. tests/tap.sh
. tests/kernel.sh

on_kernel debian-6.12
done_testing
