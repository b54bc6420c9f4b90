// Package docs contains the pages of the manual. The command skink help prints them.
package docs

import "embed"

// Pages contains the pages of the manual by file name, such as crawling.md.
//
//go:embed *.md
var Pages embed.FS
