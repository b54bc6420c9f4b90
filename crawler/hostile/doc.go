// Package hostile contains only tests. They crawl servers that try to harm a crawler, and use the
// whole pipeline, from the socket to the store. The table of these servers is testdata/hostile.md.
package hostile
