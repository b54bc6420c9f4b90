// Package e2e has the tests that run skink as its users do: terminal sessions (testdata/script), the
// commands of the README and of docs, kills, many workers on a real PostgreSQL, full disks, real
// browsers. It also holds the table of imports. All tests run in the module's root.
//
// Long tests are behind SKINK_LONG, see long_test.go:
//
//	SKINK_LONG=short go test ./internal/e2e
package e2e
