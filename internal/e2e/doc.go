// Package e2e tests skink as its users run it. It runs terminal sessions (testdata/script), the
// commands in the README and the manual, and crawls by many workers with a real PostgreSQL server.
// Other tests kill crawls, fill disks and use real browsers. The package also contains the table of
// allowed imports. All tests run in the root folder of the module.
//
// Long tests run only if SKINK_LONG is set; see long_test.go:
//
//	SKINK_LONG=short go test ./internal/e2e
package e2e
