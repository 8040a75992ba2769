#!/usr/bin/env bash
# Makes every picture of README.md and docs/ anew, from examples/ and from the figures in the documents: 'make pictures'.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/lib.sh

export TACTUS=${TACTUS:-build/tactus}
# draw NAME: docs/pictures/NAME.py prints NAME.svg; what is there stays until that is whole
draw() {
	say "docs/pictures/$1.svg"
	python3 "docs/pictures/$1.py" >"docs/pictures/$1.svg.new" || { rm -f "docs/pictures/$1.svg.new"; return 1; }
	mv "docs/pictures/$1.svg.new" "docs/pictures/$1.svg"
}

for name in architecture late-frames late-frame before-after top-screen; do
	draw $name
done
if command -v chromedriver >/dev/null; then
	say "docs/pictures/report-frames.png and compare-curves.png"
	python3 docs/pictures/report.py docs/pictures
else
	say "docs/pictures/report-frames.png and compare-curves.png stay as they are: as root run 'apt-get install chromium chromium-driver'"
fi
say "docs/pictures/prometheus.png stays as it is: docs/pictures/prometheus.sh makes it, as root, from ranks that run for two minutes"
say "the screens of docs/top.md"
python3 docs/pictures/top.py
