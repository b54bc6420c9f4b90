// Package remote lets several processes read a store that only one process can open. The process
// that has the store open is the server, and the others are its clients.
//
//	server, err := remote.Serve(dir, "skink crawl", func() (remote.Snapshot, error) { return s.Snapshot() }, s.SwapMeta)
//	defer server.Close() // before the store is closed
//
// and in another process
//
//	r, err := remote.Open(ctx, dir) // a store.Reader
//	defer r.Close()
//
// A [Reader] shows the store as it was at one moment; see [Reader.Moment]. The only thing that clients can
// write through the server are named values; see [Reader.SwapMeta]. protocol.go describes the protocol and the access rights.
package remote
