package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"skink/base/harmless"
	"skink/internal/cli"
)

// hostile contains bytes that could attack a terminal: C0 and C1 control sequences, characters that
// reverse a name, a forged line, and invalid UTF-8.
const hostile = "evil \x1b[2J\x1b]0;owned\x07 \u009b31m \x7f \u202etxt.exe \u2066\u200f\u061c \u0085 caf\xe9"

// hostileHeader is the part of hostile that net/http accepts in a header.
const hostileHeader = "evil \u009b31m \u202etxt.exe \u2066\u200f\u061c \u0085 caf\xe9 \x9b2J"

// TestHostileOutput passes hostile bytes through every command, and checks the output on both
// streams and all files that the commands write.
func TestHostileOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	web := hostileSite(t)
	tlsWeb := hostileCertificate(t)
	write := func(name, text string) string {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	words := strings.Repeat("Words about "+hostile+" that are many enough for a text. ", 20)
	a := write("a\x1b[2J\u202e.html", "<title>"+hostile+"</title><main><p>"+words)
	b := write("b\u009b31m\n\u200f.html", "<title>"+hostile+"</title><main lang='"+hostile+"'><p>"+words+" And more.")
	lines := write("lines.jsonl", fmt.Sprintf("{\"url\":\"x\\u001b[2J\\u009b\\u202e\",\"text\":%s}\n{\"url\":\"y\\u001b[2J\",\"text\":\"\\u001b \\u009b\"}\n", quoteJSON(words)))
	pairs := write("pairs.jsonl", "{\"a_path\":\"\\u001b[2J\\u202e\",\"b_text\":\"x\",\"duplicate\":true}\n")
	settings := write("settings.toml", "delay = \"0s\"\n[host.\"\\u001b[2J\\u202e\"]\nuser-agent = \"evil \\u001b[2J\\u009b31m\"\n")
	seeds := write("seeds.txt", "http://\x1b[2J\u202e.example/\n")

	run := map[string]bool{}
	for _, args := range [][]string{
		{"crawl", "--delay", "0", "--retries", "0", "--log-format", "json", "--store", "json", "--feed", "feed.jsonl", web + "/", tlsWeb + "/"},
		{"crawl", "--delay", "0", "--retries", "0", "--feed", "-", web + "/"},
		{"crawl", "--delay", "0", "--retries", "0", "--store", "tls", tlsWeb + "/"},
		{"crawl", "--delay", "0", "--retries", "0", "--store", "tls-json", "--log-format", "json", tlsWeb + "/"},
		{"crawl", "--store", "folder", "."},
		{"crawl", "--store", "none", seeds},
		{"crawl", "--store", "none", hostile},
		{"crawl", "--delay", "0", "--retries", "0", "--store", "x" + hostile, web + "/"},
		{"crawl", "--user-agent", hostile, web + "/"},
		{"crawl", "--delay", "0", "--retries", "0", "--store", "busy", "--log-format", "json", strings.Replace(web, "127.0.0.1", "localhost", 1) + "/"},
		{"status"}, {"status", "--store", "json", "--format", "json"},
		{"status", "--urls", "failed"}, {"status", "--urls", "given-up"}, {"status", "--urls", "redirected"}, {"status", "--urls", "outside"},
		{"status", "--urls", "failed", "--format", "json"}, {"status", "--urls", "given-up", "--format", "json"},
		{"status", "--store", "tls", "--urls", "failed"}, {"status", "--store", "tls", "--urls", "failed", "--format", "json"},
		{"status", "--store", "busy", "--urls", "given-up"}, {"status", "--store", "busy", "--urls", "given-up", "--format", "json"},
		{"status", "--urls", hostile},
		{"check"}, {"check", "--store", hostile}, {"check", hostile},
		{"store", hostile}, {"store", "info"}, {"store", "info", "x" + hostile}, {"store", "info", "--format", "json", "json"},
		{"store", "copy", "x" + hostile, "y" + hostile}, {"store", "copy", hostile, hostile}, {"store", "drop", hostile}, {"store", "drop", "--yes", hostile},
		{"report"}, {"report", "--format", "json"}, {"report", "--format", "csv"}, {"report", "--format", "html"},
		{"report", "--complete"}, {"report", "--complete", "--format", "json"}, {"report", "--format", "html", "--out", "report.html"},
		{"view", "--listen", hostile}, {"view", "--store", hostile}, {"view", hostile},
		{"report", "--store", "folder"}, {"report", "--store", hostile}, {"report", "--format", hostile},
		{"report", "--about", "audit"}, {"report", "--about", "audit", "--format", "json"}, {"report", "--about", "audit", "--format", "html"},
		{"report", "--about", "pages"}, {"report", "--about", "pages", "--format", "csv"}, {"report", "--about", "broken", "--format", "csv"},
		{"report", "--about", hostile}, {"report", "--fail-on", hostile}, {"report", "--store", "x" + hostile, "--about", "audit"},
		{"export"}, {"export", "--include", "all"}, {"export", "--include", "all", "--out", "pages.jsonl"}, {"export", "--store", "folder"},
		{"compare", a, b}, {"compare", "--json", a, b}, {"compare", "--html", "both.html", a, b}, {"compare", web + "/", web + "/copy"},
		{"compare", "--check", a, web + "/late"}, {"compare", a, tlsWeb + "/"}, {"compare", a, hostile}, {"compare", "--unit", hostile, a, b},
		{"extract", a}, {"extract", "--json", a, b}, {"extract", hostile},
		{"dedup", a, b, lines}, {"dedup", "--format", "json", "."}, {"dedup", "--format", "csv", "."}, {"dedup", "--pairs", a, b, lines}, {"dedup", hostile},
		{"dedup", "--unit", hostile, a},
		{"crawl", "--config", hostile}, {"crawl", "--config", a}, {"crawl", "--config", settings},
		{"crawl", "--proxy", hostile, web + "/"}, {"crawl", "--ca-file", hostile, web + "/"},
		{"control", hostile}, {"control", "block", hostile, "--reason", hostile}, {"control", "exclude", hostile}, {"control", "delay", hostile, hostile}, {"control", "add", hostile},
		{"delete", "--url", hostile}, {"delete", "--host", hostile}, {"delete", "--match", hostile}, {"delete", "--match", ".", "--dry-run"},
		{"tune", pairs}, {"tune", hostile}, {"tune", "--measure", hostile, pairs},
		{"help", hostile}, {"version", hostile}, {"man", a + "/" + hostile}, {hostile}, {"crawl", "--" + hostile}, {"crawl", "--delay", hostile},
	} {
		cmd := exec.Command("skink", args...)
		cmd.Dir = dir
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run() // some commands are expected to fail
		run[args[0]] = true
		if testing.Verbose() {
			t.Logf("skink %q\n%s%s", args, &out, &errs)
		}
		if out.Len()+errs.Len() == 0 && !slices.Contains(args, "--out") {
			t.Errorf("skink %q says nothing", args)
		}
		checkHarmless(t, fmt.Sprintf("standard output of skink %q", args), out.Bytes())
		checkHarmless(t, fmt.Sprintf("standard error of skink %q", args), errs.Bytes())
	}
	for _, name := range []string{"feed.jsonl", "report.html", "pages.jsonl", "both.html"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		}
		checkHarmless(t, name, text)
	}
	help, err := exec.Command("skink", "help").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^  skink (\w+) +.* `).FindAllStringSubmatch(string(help), -1) {
		if !run[m[1]] {
			t.Errorf("skink %s is not tried with hostile bytes", m[1])
		}
	}
	hostileScreen(t, dir, web, tlsWeb)
}

// hostileScreen crawls with a terminal as output. The only escape sequences in the output must be
// those of the status line, which return to the beginning of a line.
func hostileScreen(t *testing.T, dir, web, tlsWeb string) {
	var screen bytes.Buffer
	args := []string{"crawl", "--delay", "0", "--retries", "0", "--store", filepath.Join(dir, "screen"), web + "/", tlsWeb + "/"}
	cli.Run(context.Background(), args, cli.Console{In: strings.NewReader(""), Out: &screen, Err: &screen, Terminal: true, Columns: func() int { return 100 }})
	checkHarmless(t, "the screen", []byte(strings.ReplaceAll(screen.String(), "\r\x1b[K", "")))
}

func checkHarmless(t *testing.T, what string, text []byte) {
	t.Helper()
	for i, r := range string(text) {
		switch {
		case r == '\n', r == '\t', bytes.HasPrefix(text[i:], []byte("\r\n")):
		case harmless.Dangerous(r), r == '\uFFFD' && !bytes.HasPrefix(text[i:], []byte("\uFFFD")):
			t.Errorf("%s: %U in %q", what, r, text[max(0, i-60):min(len(text), i+20)])
			return
		}
	}
}

func quoteJSON(s string) string {
	return fmt.Sprintf("%+q", strings.ToValidUTF8(strings.NewReplacer("\x1b", "", "\x07", "", "\x7f", "").Replace(s), ""))
}

// hostileSite writes its responses without net/http, which would refuse to send such headers.
func hostileSite(t *testing.T) (url string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	text := "<title>" + hostile + "</title><meta name=description content='" + hostile + "'><html lang='" + hostile + "'><main><p>" +
		strings.Repeat("Words about "+hostile+" that are many enough for a text. ", 20) + "</main>"
	header := "Content-Type: text/html; charset=utf-8; x=\"" + hostileHeader + "\"\r\nX-Robots-Tag: " + hostileHeader + "\r\n"
	links := ""
	for _, to := range []string{"/copy", "/late", "/moved", "/lost", "/packed", "/file", "/not-http", "/" + hostile, "http://" + hostile + ".example/", "http://other.example/?" + hostile} {
		links += `<a href="` + to + `">a link</a> `
	}
	status := func(code string) string { return code + " " + hostileHeader + "\r\n" }
	answers := map[string]string{
		"/":         status("200") + header + "\r\n" + text + links,
		"/copy":     status("200") + header + "\r\n" + text + "<p>" + hostile + " The same once more.",
		"/late":     status("503") + "Retry-After: " + hostileHeader + "\r\n\r\n",
		"/moved":    status("301") + "Location: http://other.example/" + hostileHeader + "\r\n\r\n",
		"/lost":     status("301") + "Location: " + hostileHeader + "://\r\n\r\n",
		"/packed":   status("200") + "Content-Encoding: " + hostileHeader + "\r\n\r\nx",
		"/file":     status("200") + "Content-Type: application/" + hostileHeader + "\r\n\r\n\x00\x01",
		"/not-http": status("200") + "X: " + hostile + "\r\n\r\n",
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				r, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return
				}
				answer, ok := answers[r.URL.Path]
				switch {
				case r.URL.Path == "/robots.txt" && strings.HasPrefix(r.Host, "localhost"):
					answer = status("429") + "Retry-After: " + hostileHeader + "\r\n\r\n"
				case !ok:
					answer = status("404") + "\r\n" + text
				}
				fmt.Fprintf(conn, "HTTP/1.1 %s", strings.Replace(answer, "\r\n", "\r\nConnection: close\r\n", 1))
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// hostileCertificate serves with a certificate whose names contain terminal control sequences.
func hostileCertificate(t *testing.T) (url string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		Subject: pkix.Name{CommonName: strings.ToValidUTF8(hostile, "")}, DNSNames: []string{"evil\x1b[2J\x07\x7f.example"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	server.Config.ErrorLog = nil
	server.StartTLS()
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	return "https://localhost:" + port
}
