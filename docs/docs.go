// Package docs holds the pages of the manual, which skink help prints.
package docs

import "embed"

// Pages holds the pages of the manual by file name, such as crawling.md.
//
//go:embed *.md
var Pages embed.FS
