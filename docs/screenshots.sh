#!/usr/bin/env bash
# Makes the pictures in the README and in docs from a crawl of testdata/site. They show the overview of the view, the
# audit as HTML, and the comparison of two pages. The script needs chromium, and uses no network.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
viewer=
trap '[ -z "$viewer" ] || kill "$viewer"; rm -rf "$work"' EXIT

shot() { # arguments: FILE URL [HEIGHT]
	chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/chromium" \
		--window-size="1100,${3:-620}" --virtual-time-budget=5000 --screenshot="$PWD/docs/$1" "$2" 2>"$work/chromium.log" ||
		{ cat "$work/chromium.log"; exit 1; }
}

go build -o "$work/skink" .
"$work/skink" crawl --quiet --store "$work/skink-data" testdata/site

(cd "$work" && exec ./skink report --about audit --format html --out audit.html)
shot audit.png "file://$work/audit.html"

"$work/skink" compare --html "$work/both.html" testdata/site/town/bridge.html testdata/site/mirror/herald-bridge.html >"$work/compare.txt"
shot compare.png "file://$work/both.html" 1000

(cd "$work" && exec ./skink view --listen 0) 2>"$work/view.log" &
viewer=$!
until url=$(sed -n 's/.* is shown at \(.*\)/\1/p' "$work/view.log") && [ -n "$url" ]; do sleep 0.1; done
until curl -s "${url}overview" | grep -q 'class="tiles"'; do sleep 0.5; done # the view audits the store first
shot view.png "${url}overview" 1000
ls -l docs/*.png
