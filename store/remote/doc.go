// Package remote lets several processes read a store that only one can have open: the process that
// has it answers the others.
//
//	server, err := remote.Serve(dir, "skink crawl", func() (remote.Snapshot, error) { return s.Snapshot() })
//	defer server.Close() // before the store is closed
//
// and in another process
//
//	r, err := remote.Open(ctx, dir) // a store.Reader
//	defer r.Close()
//
// All that one [Reader] answers is true of one moment, see [Reader.Moment]. A server gives nothing
// but answers: nobody writes through it. How both sides speak, and who may ask, stands in
// protocol.go.
package remote
