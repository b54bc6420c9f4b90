// Package hostile has tests alone: servers that do a crawler harm, each against the whole pipeline,
// from the socket to the store. testdata/hostile.md is the table of them.
package hostile
