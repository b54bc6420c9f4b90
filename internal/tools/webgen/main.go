// Webgen generates a web and serves it on loopback: thousands of hosts behind one server. The
// correct result of a crawl is known: the pages, their links, the duplicates, and the addresses
// that cannot be fetched, with the reasons.
//
//	go run ./internal/tools/webgen --hosts 2000 --pages 200000 --truth truth.jsonl
//
// It prints one line of JSON: the URL to start from, and the counts that a complete crawl must
// reach. To crawl the web:
//
//	skink crawl --scope any --allow-private 127.0.0.0/8 --delay 0 URL
//
// --truth FILE writes the expected result of each address, one address per line. The same seed,
// sizes and port produce the same web on any machine. The server runs until it is interrupted or
// its standard input ends.
//
// With --shop N it serves a shop of N products instead (see shop.go), and prints the number of
// different texts. The server reports at its own address how many of the texts have been fetched so
// far.
//
// The hosts are h0.localhost, h1.localhost and so on, which always resolve to loopback (RFC 6761,
// section 6.3); one listener serves all of them. The only other host name that the server accepts
// is its own address, where it reports the requests that it has received.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	var opt options
	flag.IntVar(&opt.hosts, "hosts", 100, "how many hosts")
	flag.IntVar(&opt.pages, "pages", 5000, "how many pages they have together")
	flag.Uint64Var(&opt.seed, "seed", 1, "another number makes another web")
	flag.IntVar(&opt.round, "round", 0, "the web after so many rounds of changes")
	listen := flag.String("listen", "127.0.0.1:0", "address to serve at, on loopback")
	products := flag.Int("shop", 0, "serve a shop of so many products instead, with all that crawlers fall into")
	truth := flag.String("truth", "", "file for what must become of each address")
	flag.Parse()
	if err := run(opt, *products, *listen, *truth); err != nil {
		fmt.Fprintln(os.Stderr, "webgen:", err)
		os.Exit(1)
	}
}

func run(opt options, products int, address, truthFile string) error {
	if opt.hosts < 1 || opt.pages < opt.hosts {
		return fmt.Errorf("%d pages on %d hosts: each host needs one", opt.pages, opt.hosts)
	}
	if opt.round < 0 || opt.round > maxRounds {
		return fmt.Errorf("round %d: there are %d", opt.round, maxRounds)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	if products > 0 {
		return serveShop(listener, &shop{seed: opt.seed, port: listener.Addr().(*net.TCPAddr).Port, products: products})
	}
	opt.port = listener.Addr().(*net.TCPAddr).Port
	w := newWeb(opt)
	if truthFile != "" {
		if err := writeTruth(truthFile, w); err != nil {
			return err
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(w.totals()); err != nil {
		return err
	}
	return serve(listener, newServer(w))
}

func serveShop(listener net.Listener, s *shop) error {
	server := newShopServer(s)
	if err := json.NewEncoder(os.Stdout).Encode(server.sofar()); err != nil {
		return err
	}
	return serve(listener, server)
}

// serve serves requests until standard input ends.
func serve(listener net.Listener, handler http.Handler) error {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = listener.Close()
	}()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	if err := server.Serve(listener); !isClosed(err) {
		return err
	}
	return nil
}

func writeTruth(name string, w *web) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	lines := json.NewEncoder(out)
	for a := range w.addresses() {
		if err := lines.Encode(a); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return f.Close()
}
