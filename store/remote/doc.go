// Package remote lets several processes read a store that only one process can open: the process
// that has it open answers the others.
//
//	server, err := remote.Serve(dir, "skink crawl", func() (remote.Snapshot, error) { return s.Snapshot() })
//	defer server.Close() // before the store is closed
//
// and in another process
//
//	r, err := remote.Open(ctx, dir) // a store.Reader
//	defer r.Close()
//
// All answers of one [Reader] are consistent with one moment, see [Reader.Moment]. A server only
// answers: clients cannot write through it. protocol.go describes the protocol and the access
// rights.
package remote
