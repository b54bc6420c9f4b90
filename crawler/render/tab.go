package render

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"
)

// closeWithin is the maximum time for opening or closing a tab. If this takes longer, the browser
// is assumed to hang.
const closeWithin = 20 * time.Second

// A tab controls a tab of the browser, in which one page is rendered.
type tab struct {
	*pipe
	opt   Options
	page  Page
	fetch Fetch

	ctx      context.Context // context for the page's requests
	context  string          // id of the browser context
	target   string          // id of the tab, which is also the id of its main frame
	session  string
	fetching chan struct{} // contains one element for each request that the caller is answering
	requests sync.WaitGroup

	mu      sync.Mutex
	loaded  bool  // guarded by mu
	crashed bool  // guarded by mu
	started bool  // guarded by mu: the browser has requested the page itself
	open    int   // guarded by mu: number of requests waiting for a response
	asked   int   // guarded by mu: number of requests passed to the caller
	bytes   int64 // guarded by mu: total size of the responses
	goes    string
}

// draw renders a page in its own tab. The error is errGone if the browser has ended or does not
// respond.
func (in *instance) draw(ctx context.Context, opt Options, page Page, fetch Fetch) (*Drawing, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, opt.Most, ErrHangs)
	defer cancel()
	t := &tab{pipe: in.process.pipe, opt: opt, page: page, fetch: fetch, ctx: ctx, fetching: make(chan struct{}, fetchAtOnce)}
	defer t.requests.Wait()
	defer cancel()
	err := t.begin(ctx)
	var drawing *Drawing
	if err == nil {
		drawing, err = t.draw(ctx)
	}
	if closeErr := t.close(); closeErr != nil {
		in.process.end() // the browser is hung, so it must be killed
	}
	return drawing, err
}

// begin opens the tab, and makes the browser pause all of its requests.
func (t *tab) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, closeWithin, errGone)
	defer cancel()
	var made struct{ BrowserContextID, TargetID, SessionID string }
	if err := t.call(ctx, "", "Target.createBrowserContext", params{"disposeOnDetach": true}, &made); err != nil {
		return err
	}
	t.context = made.BrowserContextID
	if err := t.call(ctx, "", "Browser.setDownloadBehavior", params{"behavior": "deny", "browserContextId": t.context}, nil); err != nil {
		return err
	}
	if err := t.call(ctx, "", "Target.createTarget", params{"url": "about:blank", "browserContextId": t.context}, &made); err != nil {
		return err
	}
	t.target = made.TargetID
	if err := t.call(ctx, "", "Target.attachToTarget", params{"targetId": t.target, "flatten": true}, &made); err != nil {
		return err
	}
	t.session = made.SessionID
	t.listen(t.session, func(method string, params json.RawMessage) { t.event(t.session, method, params) })
	for _, c := range []struct {
		method string
		args   params
	}{
		{"Target.setAutoAttach", autoAttach},
		{"Fetch.enable", stopAll},
		{"Page.enable", nil},
		{"Inspector.enable", nil},
		{"Network.enable", params{"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}},
		{"Network.setBypassServiceWorker", params{"bypass": true}},
		{"Page.setInterceptFileChooserDialog", params{"enabled": true}},
		{"Page.addScriptToEvaluateOnNewDocument", params{"source": watchScript}},
	} {
		if err := t.call(ctx, t.session, c.method, c.args, nil); err != nil {
			return err
		}
	}
	return nil
}

var (
	autoAttach = params{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true}
	stopAll    = params{"patterns": []params{{"urlPattern": "*", "requestStage": "Request"}}}
)

func (t *tab) close() error {
	t.listen(t.session, nil)
	if t.context == "" {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(t.ctx), closeWithin, errGone)
	defer cancel()
	return t.call(ctx, "", "Target.disposeBrowserContext", params{"browserContextId": t.context}, nil)
}

func (t *tab) draw(ctx context.Context) (*Drawing, error) {
	var went struct{ ErrorText string }
	if err := t.call(ctx, t.session, "Page.navigate", params{"url": t.page.URL}, &went); err != nil {
		return nil, err
	}
	if went.ErrorText != "" {
		return nil, fmt.Errorf("the browser cannot open the page: %s", went.ErrorText)
	}
	quiet, err := t.settle(ctx)
	if err == nil && quiet && t.behave(ctx) {
		quiet, err = t.settle(ctx)
	}
	if err != nil {
		return nil, err
	}
	if !quiet {
		t.post(t.session, "Runtime.terminateExecution", nil)
	}
	drawing := &Drawing{Cut: !quiet}
	if t.opt.Pictures {
		t.picture(ctx, drawing)
	}
	if drawing.HTML, err = t.html(); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	drawing.Goes = t.goes
	return drawing, nil
}

// The size of a picture in pixels. A thumbnail has the same part of the page.
const (
	shownWidth, shownHeight = 1280, 1280
	thumbnailScale          = 0.25
)

const (
	tick     = 20 * time.Millisecond
	quietFor = 250  // milliseconds, measured by a timer in the page
	restless = 4    // after this many such periods, a page that changes but requests nothing counts as quiet
	patience = 20   // maximum number of such periods in which a page with little text waits for its timers
	soon     = 4000 // milliseconds: longest timer that such a page waits for
	little   = 400  // characters: a page with less text may still wait for its text
)

// watchScript runs before the scripts of a page. It remembers when the timers of the page are due, and
// cancels the event askTimers if one of them is due soon. It also opens closed shadow roots, which
// htmlScript could not read. Proxies look like the functions of the browser, in case a page examines them.
var watchScript = `(() => {
	const wrap = (on, name, apply) => { on[name] = new Proxy(on[name], {apply}) };
	const due = new Map(), now = performance.now.bind(performance);
	wrap(window, 'setTimeout', (set, self, args) => {
		const id = Reflect.apply(set, self, args), ms = Number(args[1]) || 0;
		if (ms <= ` + strconv.Itoa(soon) + ` && due.size < 1000) due.set(id, now() + ms);
		return id;
	});
	wrap(window, 'clearTimeout', (clear, self, args) => { due.delete(args[0]); return Reflect.apply(clear, self, args) });
	wrap(Element.prototype, 'attachShadow', (attach, self, args) => Reflect.apply(attach, self, [{...args[0], mode: 'open'}]));
	document.addEventListener('askTimers', e => {
		for (const [id, at] of due) if (at < now()) due.delete(id);
		if (due.size > 0) e.preventDefault();
	});
})()`

// idleScript calls a function when the page has no other task, and at the latest after a second.
const idleScript = `const idle = done => { scheduler.postTask(done, {priority: 'background'}); setTimeout(done, 1000) };`

// quietScript waits for quietFor milliseconds, and then until the page is idle. It returns the
// number of changes to the page in that time, whether the page has little text and timers that are
// due soon, and whether it lacks the element selected by %s.
var quietScript = `new Promise(done => {
	` + idleScript + `
	let changes = 0;
	const seen = new MutationObserver(all => { changes += all.length });
	seen.observe(document, {subtree: true, childList: true, characterData: true});
	const waits = () => (document.body?.innerText ?? '').length < ` + strconv.Itoa(little) + ` && !document.dispatchEvent(new Event('askTimers', {cancelable: true}));
	const waited = waits();
	const lacks = () => %[1]s !== '' && !document.querySelector(%[1]s);
	setTimeout(() => idle(() => { seen.disconnect(); done({changes, waits: waited || waits(), lacks: lacks()}) }), ` + strconv.Itoa(quietFor) + `);
})`

// A quietness is the result of quietScript.
type quietness struct {
	Changes int
	Waits   bool
	Lacks   bool // the page has no element that Page.WaitFor selects
}

// settle waits until the page is quiet, neither changing nor requesting anything. A page with little text
// is not quiet while it has timers that are due soon. It returns false if the page's time runs out first.
func (t *tab) settle(ctx context.Context) (quiet bool, err error) {
	used, rounds, waited := time.Duration(0), 0, 0
	loaded := time.Duration(0) // part of used in which the page has been loaded
	var found quietness
	var answer chan error // receives the result of the script waiting in the page; nil if none is running
	var asked int
	last := time.Now()
	for range time.Tick(tick) {
		s := t.state()
		now := time.Now()
		if s.open == 0 {
			used += now.Sub(last)
		}
		if s.loaded {
			loaded += now.Sub(last)
		}
		last = now
		switch {
		case s.crashed:
			return false, ErrCrashed
		case errors.Is(context.Cause(ctx), ErrHangs), used > t.opt.Time+t.page.Wait:
			return false, nil
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		}
		select {
		case <-t.gone:
			return false, errGone
		case err := <-answer:
			answer = nil
			rounds++
			switch {
			case err == nil && (found.Lacks || loaded < t.page.Wait):
				rounds = 0
			case err == nil && found.Waits && waited < patience:
				waited, rounds = waited+1, 0
			case err == nil && s.open == 0 && s.asked == asked && (found.Changes == 0 || rounds >= restless):
				return true, nil
			}
			if s.asked != asked {
				rounds = 0
			}
		default:
		}
		if s.loaded && s.open == 0 && answer == nil {
			asked, answer = s.asked, make(chan error, 1)
			go func(answer chan error) {
				answer <- t.evaluate(ctx, fmt.Sprintf(quietScript, strconv.Quote(t.page.WaitFor)), &found)
			}(answer)
		}
	}
	panic("unreachable")
}

const (
	maxScrolls = 40
	maxMore    = 10
	maxViews   = 200
)

// behaveScript does what the list %[1]s names, and scrolls back to the top. If JSON in the page has much
// more text than the page shows, it also opens the views to which links to missing fragments lead, as
// long as the page shows them beside its other text. It gives up after ten views that add nothing. It
// returns false if it did nothing.
const behaveScript = `(async does => {
	` + idleScript + `
	const text = () => document.body?.innerText ?? '';
	const data = [...document.querySelectorAll('script[type="application/json"]')].reduce((n, s) => n + s.textContent.length, 0);
	const hides = data > 1000 && data > 4 * text().length;
	if (does.length === 0 && !hides) return false;
	const sleep = ms => new Promise(done => setTimeout(done, ms));
	const changed = ms => new Promise(done => {
		const seen = new MutationObserver(() => { seen.disconnect(); done() });
		seen.observe(document, {subtree: true, childList: true});
		setTimeout(done, ms);
	});
	const open = () => { if (does.includes('details')) for (const d of document.querySelectorAll('details:not([open])')) d.open = true };
	const scroll = async () => {
		for (let i = 0, last = -1; does.includes('scroll') && i < %[2]d && scrollY > last; i++) {
			last = scrollY;
			scrollBy({top: innerHeight, behavior: 'instant'});
			await sleep(100);
			if (scrollY === last) { await changed(500); scrollBy({top: innerHeight, behavior: 'instant'}) }
		}
	};
	const more = /^(load|show|view|see) more\b|^more\b|^(mehr|weitere)\b.*(laden|anzeigen)|^(afficher|voir|charger) plus|^(ver|cargar|mostrar) más/i;
	const isMore = e => e.checkVisibility() && !e.disabled && e.innerText.length < 60 && more.test(e.innerText.trim());
	open();
	await scroll();
	for (let i = 0; does.includes('more') && i < %[3]d; i++) {
		const button = [...document.querySelectorAll('button:not([type=submit]), [role=button]:not([href]), a[href="#"]')].find(isMore);
		if (!button) break;
		const wait = changed(3000);
		button.click();
		await wait;
		open();
		await scroll();
	}
	if (hides) {
		const views = new Set(), first = location.hash;
		const decoded = id => { try { return decodeURIComponent(id) } catch { return id } };
		const collect = () => {
			for (const a of document.querySelectorAll('a[href^="#"]')) {
				const id = a.hash.slice(1);
				if (id && !document.getElementById(id) && !document.getElementById(decoded(id))) views.add(a.hash);
			}
		};
		const tabs = () => [...document.querySelectorAll('[role=tab]')], chosen = tabs().findIndex(t => t.ariaSelected === 'true');
		collect();
		for (let i = 0, n = tabs().length; i <= n; i++) {
			const wait = changed(200);
			tabs()[i < n ? i : chosen]?.click();
			await wait;
			collect();
		}
		let opened = 0, empty = 0;
		for (const view of views) { // collect adds to them
			if (++opened > %[4]d || empty === 10) break;
			const before = text(), had = before.split('\n'), wait = changed(200);
			location.hash = view;
			await wait;
			await sleep(20);
			await new Promise(idle);
			const after = text(), has = new Set(after.split('\n'));
			empty = after.length > before.length ? 0 : empty + 1;
			if (had.filter(line => !has.has(line)).length > had.length / 10) { location.hash = first; break }
			collect();
		}
	}
	scrollTo({top: 0, behavior: 'instant'});
	return true;
})(%[1]s)`

// behave does what Page.Behaviors lists, within half of Options.Most. It returns false if the page did not let it.
func (t *tab) behave(ctx context.Context) (done bool) {
	ctx, cancel := context.WithTimeout(ctx, t.opt.Most/2)
	defer cancel()
	list, _ := json.Marshal(append([]string{}, t.page.Behaviors...)) // strings
	err := t.evaluate(ctx, fmt.Sprintf(behaveScript, list, maxScrolls, maxMore, maxViews), &done)
	return err == nil && done
}

// picture takes the pictures of the page. It takes none if the browser needs too long, because the text
// matters more.
func (t *tab) picture(ctx context.Context, d *Drawing) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.opt.Time)
	defer cancel()
	shot := func(format string, scale float64) []byte {
		var got struct{ Data []byte }
		clip := params{"x": 0, "y": 0, "width": shownWidth, "height": shownHeight, "scale": scale}
		_ = t.call(ctx, t.session, "Page.captureScreenshot", params{"format": format, "clip": clip}, &got)
		return got.Data
	}
	if view := shot("png", 1); view != nil {
		d.View, d.Thumbnail = view, shot("jpeg", thumbnailScale)
	}
}

type tabState struct {
	loaded, crashed bool
	open, asked     int
}

func (t *tab) state() tabState {
	t.mu.Lock()
	defer t.mu.Unlock()
	return tabState{t.loaded, t.crashed, t.open, t.asked}
}

// htmlScript returns the HTML of the page, with its open shadow roots and without noscript elements.
// After each visible frame that the page may read comes what the frame shows. It returns null if the
// HTML has more than %d characters. Nothing moves between documents, because a frame that moves is
// requested again.
const htmlScript = `(() => {
	const root = document.documentElement ?? document.createElement('html');
	for (const n of document.querySelectorAll('noscript')) n.remove();
	const shadows = [], frames = [], mark = 'frame-' + crypto.getRandomValues(new Uint32Array(2)).join('-') + '-';
	const find = at => {
		for (const e of at.querySelectorAll('*')) {
			if (e.shadowRoot) { shadows.push(e.shadowRoot); find(e.shadowRoot) }
			const body = e.localName === 'iframe' && e.checkVisibility() && e.clientWidth > 1 && e.clientHeight > 1 && e.contentDocument?.body;
			if (body) {
				find(body);
				for (const a of body.querySelectorAll('a[href], area[href]')) if (typeof a.href === 'string') a.href = a.href;
				for (const n of body.querySelectorAll('iframe, script, style, noscript')) n.remove();
				e.after(mark + frames.push(body) + '-');
			}
		}
	};
	find(document);
	let html = root.getHTML({shadowRoots: shadows});
	for (let i = frames.length; i > 0; i--) html = html.replace(mark + i + '-', () => '<div>' + frames[i - 1].getHTML({shadowRoots: shadows}) + '</div>');
	return html.length > %d ? null : '<!DOCTYPE html>' + root.cloneNode(false).outerHTML.replace(/<\/html>$/, '') + html + '</html>';
})()`

func (t *tab) html() ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(t.ctx), t.opt.Time, ErrHangs)
	defer cancel()
	var html *string
	switch err := t.evaluate(ctx, fmt.Sprintf(htmlScript, t.opt.Size), &html); {
	case t.state().crashed:
		return nil, ErrCrashed
	case err != nil:
		return nil, err
	case html == nil || int64(len(*html)) > t.opt.Size:
		return nil, ErrLarge
	}
	return []byte(*html), nil
}

// evaluate runs a script in the page and decodes its value. The script runs in an isolated world,
// so the page's scripts cannot change the functions that it uses.
func (t *tab) evaluate(ctx context.Context, script string, value any) error {
	var world struct{ ExecutionContextID int }
	if err := t.call(ctx, t.session, "Page.createIsolatedWorld", params{"frameId": t.target, "worldName": "skink"}, &world); err != nil {
		return err
	}
	var result struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Text string }
	}
	args := params{"expression": script, "contextId": world.ExecutionContextID, "returnByValue": true, "awaitPromise": true}
	if err := t.call(ctx, t.session, "Runtime.evaluate", args, &result); err != nil {
		return err
	}
	if result.ExceptionDetails != nil {
		return fmt.Errorf("the page cannot be read: %s", result.ExceptionDetails.Text)
	}
	return json.Unmarshal(result.Result.Value, value)
}

func (t *tab) event(session, method string, args json.RawMessage) {
	switch method {
	case "Fetch.requestPaused":
		var p paused
		if json.Unmarshal(args, &p) == nil {
			t.stopped(session, p)
		}
	case "Page.loadEventFired":
		t.mu.Lock()
		defer t.mu.Unlock()
		t.loaded = t.loaded || t.started
	case "Inspector.targetCrashed":
		t.mu.Lock()
		defer t.mu.Unlock()
		t.crashed = t.crashed || session == t.session
	case "Page.javascriptDialogOpening":
		t.post(session, "Page.handleJavaScriptDialog", params{"accept": false})
	case "Target.attachedToTarget":
		var to struct{ SessionID string }
		if json.Unmarshal(args, &to) != nil {
			return
		}
		t.listen(to.SessionID, func(method string, params json.RawMessage) { t.event(to.SessionID, method, params) })
		t.post(to.SessionID, "Fetch.enable", stopAll)
		t.post(to.SessionID, "Target.setAutoAttach", autoAttach)
		t.post(to.SessionID, "Runtime.runIfWaitingForDebugger", nil)
	case "Target.detachedFromTarget":
		var from struct{ SessionID string }
		if json.Unmarshal(args, &from) == nil {
			t.listen(from.SessionID, nil)
		}
	}
}

func (t *tab) fulfil(session, request string, a Answer) {
	var fields []params
	for name, values := range a.Header {
		if !unsaid[name] {
			for _, v := range values {
				fields = append(fields, params{"name": name, "value": v})
			}
		}
	}
	t.post(session, "Fetch.fulfillRequest", params{
		"requestId": request, "responseCode": a.Status, "responseHeaders": fields, "body": base64.StdEncoding.EncodeToString(a.Body),
	})
}

func (t *tab) fail(session, request, reason string) {
	t.post(session, "Fetch.failRequest", params{"requestId": request, "errorReason": reason})
}
