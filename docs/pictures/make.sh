#!/usr/bin/env bash
# Makes every picture of README.md and docs/ anew, from examples/ and from the figures in the documents: 'make pictures'.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/lib.sh

export TACTUS=${TACTUS:-build/tactus}
# draw NAME: docs/pictures/NAME.py prints NAME.svg; what is there stays until that is whole
draw() {
	say "docs/pictures/$1.svg"
	python3 "docs/pictures/$1.py" >"docs/pictures/$1.svg.new"
	mv "docs/pictures/$1.svg.new" "docs/pictures/$1.svg"
}

draw architecture
draw late-frames
say "the screens of docs/top.md"
python3 docs/pictures/top.py
