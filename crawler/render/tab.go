package render

import (
	"context"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// closeWithin is the maximum time for opening or closing a tab. If this takes longer, the browser
// is assumed to hang.
const closeWithin = 20 * time.Second

//go:embed *.js
var scripts embed.FS

// script returns a script that calls the function in a file with some arguments.
func script(name string, args ...any) string {
	function, _ := scripts.ReadFile(name + ".js") // it is embedded
	list, _ := json.Marshal(args)                 // numbers and strings
	return "(" + string(function) + ")(..." + string(list) + ")"
}

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
		{"Page.addScriptToEvaluateOnNewDocument", params{"source": script("watch", soon)}},
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
	if t.opt.Screenshots {
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

// A quietness is the result of quiet.js.
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
				answer <- t.evaluate(ctx, script("quiet", quietFor, little, t.page.WaitFor), &found)
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

// behave does what Page.Behaviors lists, within half of Options.Most. It returns false if the page did not let it.
func (t *tab) behave(ctx context.Context) (done bool) {
	ctx, cancel := context.WithTimeout(ctx, t.opt.Most/2)
	defer cancel()
	err := t.evaluate(ctx, script("behave", append([]string{}, t.page.Behaviors...), maxScrolls, maxMore, maxViews), &done)
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

func (t *tab) html() ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(t.ctx), t.opt.Time, ErrHangs)
	defer cancel()
	var html *string
	switch err := t.evaluate(ctx, script("html", t.opt.Size), &html); {
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
