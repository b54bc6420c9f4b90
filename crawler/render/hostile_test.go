//go:build linux

package render

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A trap counts the connections and packets that arrive at an address of this machine.
type trap struct {
	address string
	touched atomic.Int64
}

func newTrap(t *testing.T) *trap {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skip(err)
	}
	packets, err := net.ListenPacket("udp", l.Addr().String())
	if err != nil {
		t.Skip(err)
	}
	trap := &trap{address: l.Addr().String()}
	t.Cleanup(func() { _, _ = l.Close(), packets.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			trap.touched.Add(1)
			conn.Close()
		}
	}()
	go func() {
		for b := make([]byte, 2000); ; trap.touched.Add(1) {
			if _, _, err := packets.ReadFrom(b); err != nil {
				return
			}
		}
	}()
	return trap
}

// TestNoNetwork lets pages try everything that could reach an address. No page reaches one. The
// caller gets only the expected requests.
func TestNoNetwork(t *testing.T) {
	if os.Getenv("SKINK_LONG") == "" {
		t.Skip("a long test: SKINK_LONG=short runs it")
	}
	b := newBrowser(t, Options{Time: 3 * time.Second})
	trap := newTrap(t)
	downloads := t.TempDir()
	t.Setenv("HOME", downloads)
	const worker = `try { importScripts('http://TRAP/w.js') } catch {}; fetch('http://TRAP/worker').catch(() => {}); new WebSocket('ws://TRAP/worker')`
	for _, test := range []struct {
		name, script, asks string
		secure             bool
	}{
		{"requests", `fetch('http://TRAP/a').catch(() => {}); fetch('http://TRAP/b', {method: 'POST', body: 'x'}).catch(() => {}); navigator.sendBeacon('http://TRAP/c', 'x'); new Image().src = 'http://TRAP/d'`, "http://TRAP/a", false},
		{"sends", `fetch('/x', {method: 'POST', body: 'x'}).catch(() => {}); fetch('/y', {method: 'DELETE'}).catch(() => {}); navigator.sendBeacon('/z', 'x'); const f = document.createElement('form'); f.method = 'POST'; f.action = '/f'; document.body.append(f); f.submit()`, "", false},
		{"preflight", `fetch('http://other.example/a', {headers: {'X-A': 'b'}}).catch(() => {})`, "http://other.example/a", false},
		{"elements", `document.body.insertAdjacentHTML('beforeend', '<iframe src=http://TRAP/f></iframe><object data=http://TRAP/o></object><embed src=http://TRAP/e><video src=http://TRAP/v autoplay></video><audio src=http://TRAP/a autoplay></audio><link rel=prefetch href=http://TRAP/p><link rel=stylesheet href=http://TRAP/s.css><link rel=preload as=font href=http://TRAP/f.woff><link rel=manifest href=http://TRAP/m><link rel=icon href=http://TRAP/i><link rel=preconnect href=http://TRAP><link rel=dns-prefetch href=//TRAP><svg><image href=http://TRAP/svg /></svg>')`, "", false},
		{"speculation", `const s = document.createElement('script'); s.type = 'speculationrules'; s.text = JSON.stringify({prerender: [{source: 'list', urls: ['/pre']}], prefetch: [{source: 'list', urls: ['http://TRAP/pre']}]}); document.head.append(s)`, "", true},
		{"sockets", `new WebSocket('ws://TRAP/ws'); new EventSource('http://TRAP/sse'); try { new WebTransport('https://TRAP/wt') } catch {}`, "", false},
		{"secure sockets", `new WebSocket('wss://TRAP/ws'); try { const w = new WebTransport('https://TRAP/wt'); w.ready.catch(() => {}); w.closed.catch(() => {}) } catch {}`, "", true},
		{"WebRTC", `const c = new RTCPeerConnection({iceServers: [{urls: 'stun:TRAP'}, {urls: 'turn:TRAP?transport=tcp', username: 'a', credential: 'b'}]}); c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o)); c.onicecandidate = e => e.candidate && fetch('/leaks?' + encodeURIComponent(e.candidate.candidate))`, "", true},
		{"popups", `open('http://TRAP/popup'); open('/popup'); const a = document.createElement('a'); a.href = 'http://TRAP/blank'; a.target = '_blank'; document.body.append(a); a.click(); alert('x'); confirm('y'); prompt('z'); print()`, "", false},
		{"leaves", `location.href = 'http://TRAP/gone'`, "", false},
		{"reloads", `location.reload()`, "", false},
		{"download", `const a = document.createElement('a'); a.href = URL.createObjectURL(new Blob(['x'])); a.download = 'evil.txt'; document.body.append(a); a.click(); const b = document.createElement('a'); b.href = '/file'; b.download = 'evil2.txt'; document.body.append(b); b.click()`, "", false},
		{"file", `location.href = 'file:///etc/passwd'; document.body.insertAdjacentHTML('beforeend', '<iframe src=file:///etc/passwd></iframe><script src=file:///etc/passwd></scr' + 'ipt>'); fetch('file:///etc/passwd').catch(() => {})`, "", false},
		{"chrome", `location.href = 'chrome://settings'; open('chrome://version'); document.body.insertAdjacentHTML('beforeend', '<iframe src=chrome://version></iframe><iframe src=devtools://devtools/bundled/inspector.html></iframe>')`, "", false},
		{"worker", `new Worker(URL.createObjectURL(new Blob([` + "`" + worker + "`" + `]))); new SharedWorker('data:text/javascript,' + encodeURIComponent(` + "`" + worker + "`" + `))`, "http://TRAP/w.js http://TRAP/worker", false},
		{"worker of the host", `new Worker('/worker.js')`, "", false},
		{"service worker", `navigator.serviceWorker?.register('/sw.js').catch(() => {}); navigator.serviceWorker?.register('http://TRAP/sw.js').catch(() => {}); navigator.serviceWorker.ready.then(() => document.body.append('ro' + 'ot:'))`, "", true},
		{"tracker", `const s = document.createElement('script'); s.src = 'https://www.google-analytics.com/ga.js'; document.body.append(s)`, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &site{answers: map[string]string{"/worker.js": strings.ReplaceAll(worker, "TRAP", trap.address), "/sw.js": strings.ReplaceAll(worker, "TRAP", trap.address)}}
			began := time.Now()
			p := page("<body><p>shown</p><script>" + strings.ReplaceAll(test.script, "TRAP", trap.address) + "</script>")
			if test.secure { // a browser offers more functions to pages with https
				p.URL = "https://site.example/"
			}
			d, err := b.Draw(t.Context(), p, s.fetch)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(d.HTML), "shown") || strings.Contains(string(d.HTML), "root:") {
				t.Errorf("%+v %s", d, d.HTML)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			t.Logf("%v cut=%v goes=%q asked %q", time.Since(began), d.Cut, d.Goes, s.asked)
			for _, url := range s.asked {
				if want := strings.ReplaceAll(test.asks, "TRAP", trap.address); !slices.Contains(strings.Fields(want), url) {
					t.Errorf("asks for %s", url)
				}
			}
		})
	}
	time.Sleep(200 * time.Millisecond)
	if n := trap.touched.Load(); n > 0 {
		t.Errorf("the other address was reached %d times", n)
	}
	if found, _ := filepath.Glob(filepath.Join(downloads, "*")); len(found) > 0 {
		t.Errorf("saved %q", found)
	}
}

// TestBounds renders pages that use too much time, memory or bytes. Each of them is ended, and the
// next page is rendered.
func TestBounds(t *testing.T) {
	if os.Getenv("SKINK_LONG") == "" {
		t.Skip("a long test: SKINK_LONG=short runs it")
	}
	const most = 20 * time.Second
	b := newBrowser(t, Options{Time: time.Second, Most: most, Memory: 1 << 30, Size: 1 << 20})
	answer := func(context.Context, Request) (Answer, error) {
		return Answer{http.StatusOK, http.Header{"Content-Type": {"text/javascript"}}, nil}, nil
	}
	for _, test := range []struct {
		name, script string
		cut          bool
		alive        bool // the page need not be rendered, but the next page must be
	}{
		{name: "endless loop", script: `for (;;);`, cut: true},
		{name: "endless loop again and again", script: `setInterval(() => { for (;;); }, 0)`, alive: true},
		{name: "heap", script: `const all = []; for (;;) all.push(new Array(1000).fill({}).map((x, i) => ({i})))`, alive: true},
		{name: "buffers", script: `const all = []; for (;;) all.push(new Uint8Array(1 << 26).fill(1))`, alive: true},
		{name: "string", script: `let s = 'x'; for (;;) s += s`, alive: true},
		{name: "elements", script: `for (;;) document.body.append(document.createElement('div'))`, alive: true},
		{name: "requests", script: `for (let i = 0; i < 10000; i++) fetch('/' + i).catch(() => {})`, alive: true},
		{name: "scripts", script: `for (let i = 0; i < 10000; i++) { const s = document.createElement('script'); s.src = '/' + i; document.head.append(s) }`, alive: true},
		{name: "requests without end", script: `(async () => { for (let i = 0; ; i++) await fetch('/' + i).catch(() => {}) })()`, alive: true},
		{name: "changes without end", script: `setInterval(() => document.body.append('x'), 10)`, alive: true},
		{name: "workers", script: `for (let i = 0; i < 200; i++) new Worker(URL.createObjectURL(new Blob(['for (;;);'])))`, alive: true},
		{name: "frames", script: `const f = () => { const i = document.createElement('iframe'); i.srcdoc = '<script>parent.f()</scr' + 'ipt>'; document.body.append(i) }; f()`, alive: true},
		{name: "reloads without end", script: `setInterval(() => location.reload(), 1)`, alive: true},
		{name: "history", script: `for (let i = 0; i < 100000; i++) history.pushState({}, '', '/' + i)`, alive: true},
		{name: "dialogs", script: `for (let i = 0; i < 100; i++) alert(i)`, alive: true},
		{name: "crash", script: `location.href = 'chrome://crash'`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var asked atomic.Int64
			began := time.Now()
			d, err := b.Draw(t.Context(), page("<body><p>shown</p><script>"+test.script+"</script>"), func(ctx context.Context, r Request) (Answer, error) {
				asked.Add(1)
				return answer(ctx, r)
			})
			took := time.Since(began)
			t.Log(took, asked.Load(), d != nil, d != nil && d.Cut, err)
			switch {
			case took > most+closeWithin:
				t.Errorf("took %v", took)
			case asked.Load() > maxRequests:
				t.Errorf("%d requests", asked.Load())
			case test.alive:
			case err != nil || d.Cut != test.cut || !strings.Contains(string(d.HTML), "shown"):
				t.Errorf("%+v, %v", d, err)
			}
			d, err = b.Draw(t.Context(), page("<p>next</p>"), answer)
			if err != nil || !strings.Contains(string(d.HTML), "next") {
				t.Fatalf("the next page: %+v, %v", d, err)
			}
		})
	}
	time.Sleep(time.Second)
	before := cpu(t, b)
	time.Sleep(time.Second)
	if used := cpu(t, b) - before; used > time.Second/2 {
		t.Errorf("the browser works for %v in a second although no page is drawn", used)
	}
}

// A rendered page that is larger than the limit is refused. The browser has minutes to render it,
// because a busy machine needs longer than usual.
func TestLargePage(t *testing.T) {
	b := newBrowser(t, Options{Time: time.Minute, Most: 2 * time.Minute, Memory: 1 << 30, Size: 1 << 20})
	answer := func(context.Context, Request) (Answer, error) {
		return Answer{}, errors.New("there are no other files")
	}
	if d, err := b.Draw(t.Context(), page("<body><script>document.body.append('x'.repeat(2 << 20))</script>"), answer); !errors.Is(err, ErrLarge) {
		t.Errorf("%+v, %v; want %v", d, err, ErrLarge)
	}
	if d, err := b.Draw(t.Context(), page("<p>next</p>"), answer); err != nil || !strings.Contains(string(d.HTML), "next") {
		t.Errorf("the next page: %+v, %v", d, err)
	}
}

// cpu returns the processor time that a browser has used.
func cpu(t *testing.T, b *Browser) (used time.Duration) {
	t.Helper()
	for _, m := range group(b.now.process.cmd.Process.Pid) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", m.pid))
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) > 12 {
			for _, f := range fields[11:13] {
				var ticks int64
				_, _ = fmt.Sscan(f, &ticks)
				used += time.Duration(ticks) * 10 * time.Millisecond
			}
		}
	}
	return used
}
