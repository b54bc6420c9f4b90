package render

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"skink/base/lock"
)

// names are the file names of Chromium and Chrome, in the order in which Find looks for them. The shells have no window,
// and start in a quarter of the processor time.
var names = []string{"chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium"}

// Find returns the path of an installed browser. The error names the package to install.
func Find() (string, error) {
	for _, name := range names {
		if path, err := find(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("neither Chromium nor Chrome is installed; install one, for example with apt install chromium-headless-shell")
}

// find looks for a browser. Debian's headless shell is started by a script, and would outlive the script if that is
// killed, so find returns the program itself.
func find(name string) (path string, err error) {
	path, err = exec.LookPath(name)
	if program, missing := exec.LookPath("/usr/lib/chromium/" + name); missing == nil && strings.HasSuffix(name, "-shell") {
		return program, err
	}
	return path, err
}

const profilePrefix = "skink-browser-"

// flags returns the command line of a browser. It keeps the browser off the network, and turns off
// everything that the browser does on its own.
//
// Package render answers all requests from pages. All other requests from the browser would go to a
// proxy whose name cannot be resolved. The browser resolves no names, and connects to no address
// without the proxy, not even to an address of this machine. WebRTC must not use UDP without the
// proxy, and QUIC is off.
func flags(profile string, opt Options) []string {
	all := []string{
		"--headless", "--remote-debugging-pipe", "--user-data-dir=" + profile,
		"--proxy-server=http://proxy.invalid:1", "--proxy-bypass-list=<-loopback>",
		"--host-resolver-rules=MAP * ~NOTFOUND", "--dns-prefetch-disable", "--disable-quic",
		"--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--no-pings", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-domain-reliability", "--disable-client-side-phishing-detection", "--disable-breakpad", "--disable-crash-reporter",
		"--disable-features=Translate,MediaRouter,OptimizationHints,DialMediaRouteProvider,InterestFeedContentSuggestions,AutofillServerCommunication,CertificateTransparencyComponentUpdater,Prerender2,SpareRendererForSitePerProcess",
		"--no-first-run", "--no-default-browser-check", "--disable-default-apps", "--disable-extensions", "--disable-component-extensions-with-background-pages",
		"--block-new-web-contents", "--mute-audio", "--disable-gpu", "--disable-3d-apis", "--disable-dev-shm-usage",
		"--disk-cache-size=1", "--media-cache-size=1", "--password-store=basic", "--use-mock-keychain", "--hide-scrollbars", "--window-size=1280,2000",
		"--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding", "--disable-hang-monitor",
		fmt.Sprintf("--js-flags=--max-old-space-size=%d", opt.Memory>>20),
	}
	if !opt.Screenshots {
		all = append(all, "--blink-settings=imagesEnabled=false")
	}
	if os.Geteuid() == 0 {
		all = append(all, "--no-sandbox") // Chromium refuses to use its sandbox when run as root
	}
	return append(all, "about:blank")
}

// A process is a running browser. Its child processes end with it.
type process struct {
	*pipe
	cmd     *exec.Cmd
	profile string
	ended   chan struct{}

	release func() // releases the lock on the profile
	ending  sync.Once
	said    tail // the browser's standard error
}

// start starts a browser with its own profile. It also removes the profiles left behind by crawls
// that were killed.
func start(opt Options) (*process, error) {
	dir, err := filepath.Abs(os.TempDir())
	if err != nil {
		return nil, err
	}
	lock.RemoveStale(dir, profilePrefix)
	profile, err := os.MkdirTemp(dir, profilePrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("create a browser profile: %w", err)
	}
	release, _, err := lock.Try(profile)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the browser profile: %w", err), os.RemoveAll(profile))
	}
	p := &process{profile: profile, release: release, ended: make(chan struct{})}
	if err := p.run(opt); err != nil {
		release()
		return nil, errors.Join(fmt.Errorf("start the browser %s: %w", opt.Path, err), os.RemoveAll(profile))
	}
	return p, nil
}

func (p *process) run(opt Options) error {
	hears, tell, err := os.Pipe()
	if err != nil {
		return err
	}
	hear, tells, err := os.Pipe()
	if err != nil {
		return errors.Join(err, hears.Close(), tell.Close())
	}
	p.cmd = exec.Command(opt.Path, flags(p.profile, opt)...)
	p.cmd.ExtraFiles = []*os.File{hears, tells} // file descriptors 3 and 4, as the browser expects
	p.cmd.Stderr = &p.said
	p.cmd.Dir = p.profile // also for temporary files; the path is relative because that of a socket may have only 107 bytes
	p.cmd.Env = append(os.Environ(), "HOME="+p.profile, "TMPDIR=.", "XDG_CONFIG_HOME="+p.profile, "XDG_CACHE_HOME="+p.profile, "DBUS_SESSION_BUS_ADDRESS=disabled:")
	alone(p.cmd)
	started := make(chan error)
	go func() {
		// On Linux, the kernel kills the browser when the thread that started it ends. So this
		// thread must live as long as the browser.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	err = <-started
	_, _ = hears.Close(), tells.Close()
	if err != nil {
		_, _ = tell.Close(), hear.Close()
		return err
	}
	bound(p.cmd.Process.Pid, opt.Memory)
	p.pipe = newPipe(hear, tell)
	go func() {
		<-p.gone
		p.end()
		_, _ = tell.Close(), hear.Close()
	}()
	return nil
}

// end kills the browser and all its children, and removes its profile.
func (p *process) end() {
	p.ending.Do(func() {
		kill(p.cmd.Process)
		<-p.ended
		kill(p.cmd.Process) // kills children started in the meantime
		p.release()
		_ = os.RemoveAll(p.profile)
	})
}

// why returns errGone. If a line of the browser's standard error explains the failure, the error
// includes that line.
func (p *process) why() error {
	if line := p.said.line(); line != "" {
		return fmt.Errorf("%w: %s", errGone, line)
	}
	return errGone
}

// A tail keeps the first 16 KiB of a browser's standard error.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Write(p[:min(len(p), max(0, 16<<10-t.text.Len()))])
	return len(p), nil
}

// line returns the first line that looks like the cause of a failure, or "" if there is none.
func (t *tail) line() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for line := range strings.Lines(t.text.String()) {
		if strings.Contains(line, "FATAL") || strings.Contains(line, "sandbox") || strings.Contains(line, "cannot open display") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
