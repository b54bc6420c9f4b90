#!/bin/sh
# Prints the pages of this folder with Chromium and with LibreOffice Writer, in the font DejaVu Sans.
set -eu
cd "$(dirname "$0")"
for page in *.html; do
	chromium --headless --no-sandbox --no-pdf-header-footer --print-to-pdf="${page%.html}.pdf" "$page"
done
for page in ar fa he; do
	soffice --headless --infilter="HTML (StarWriter)" --convert-to "docx:MS Word 2007 XML:UTF8" $page.html
	mv $page.docx $page.office.docx
	soffice --headless --convert-to pdf $page.office.docx
	rm $page.office.docx
done
