#!/bin/sh
# Writes the completion scripts of a release into a folder:
#
#	release-files.sh DIR PROGRAM...
#
# PROGRAM is the command that runs skink, such as: go run .
set -eu
dir=$1
shift
rm -rf "$dir"
mkdir -p "$dir/completions"
"$@" completion bash >"$dir/completions/skink.bash"
"$@" completion zsh >"$dir/completions/_skink"
"$@" completion fish >"$dir/completions/skink.fish"
