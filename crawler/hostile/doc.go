// Package hostile contains only tests. They run the whole pipeline, from the socket to the store,
// against servers that try to harm a crawler. The file testdata/hostile.md lists these servers.
package hostile
