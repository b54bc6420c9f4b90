#!/bin/sh
# Makes the documents of this folder from tides.md. It needs pandoc, chromium and qpdf.
set -eu
cd "$(dirname "$0")"
pandoc -s tides.md -o tides.docx
pandoc -s tides.md -o tides.epub
pandoc -s tides.md -o tides.html
print=$(mktemp -d)
pandoc -s --self-contained -c print.css tides.md -o "$print/tides.html"
chromium --headless --no-sandbox --no-pdf-header-footer --print-to-pdf="$print/tides.pdf" "$print/tides.html"
qpdf --object-streams=generate --recompress-flate --compression-level=9 "$print/tides.pdf" tides.pdf
qpdf --encrypt tide tide 256 -- tides.pdf encrypted.pdf
qpdf --encrypt '' tide 256 --print=none -- tides.pdf owner.pdf # opens without a password
rm -r "$print"
