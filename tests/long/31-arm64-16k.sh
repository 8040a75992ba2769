#!/usr/bin/env bash
# arm64 with pages of 16 KB: the core set, on Debian's kernel that has them.
ARM64_KERNEL=debian-arm64-16k exec tests/kernels/30-arm64.sh
