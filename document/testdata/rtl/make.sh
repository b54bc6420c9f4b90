#!/bin/sh
# Prints the pages of this folder with Chromium, in the font DejaVu Sans.
set -eu
cd "$(dirname "$0")"
for page in *.html; do
	chromium --headless --no-sandbox --no-pdf-header-footer --print-to-pdf="${page%.html}.pdf" "$page"
done
