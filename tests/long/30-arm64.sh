#!/usr/bin/env bash
# Everything on arm64: unit tests, latency, roles, hints and the scheduler's times too.
ARM64=all exec tests/kernels/30-arm64.sh
