package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"skink/base/harmless"
	"skink/frontier"
	"skink/internal/session"
	"skink/report"
	"skink/store"
	"skink/view"
)

var statusCommand = command{
	name:  "status",
	args:  "[flags]",
	short: "print the progress of a crawl",
	setup: setupStatus,
}

type statusFlags struct {
	store  *string
	asked  []session.NamedState // states whose URLs are listed
	format string
}

func setupStatus(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	f := &statusFlags{store: addStoreFlag(flags)}
	flags.Var(&list{kind: "stringSlice", commas: true, add: f.addState}, "urls", "`STATE` list the URLs in these states, separated by commas: pending, fetched, redirected, blocked, postponed, failed, given-up, outside or all")
	f.format = "text"
	flags.Var(oneOf(&f.format, "text", "json"), "format", "print the output in this format; with --urls, json prints one object per line")
	return f.run
}

func (f *statusFlags) run(ctx context.Context, con Console, _ []string) (err error) {
	s, err := openToRead(ctx, *f.store, con.Err)
	if err != nil {
		return err
	}
	defer func() { err = keepFirst(err, s.close()) }()
	warn(con.Err, s.loss)
	out := bufio.NewWriter(con.Out)
	if len(f.asked) > 0 {
		err = listURLs(ctx, out, s, f.asked, f.format == "json")
	} else {
		err = printStatus(ctx, out, s, f.format == "json")
	}
	return keepFirst(err, out.Flush())
}

type status struct {
	URLs     map[string]int64       `json:"urls"`
	Pages    int64                  `json:"pages"`
	Other    int64                  `json:"other"`              // number of fetched files without text, such as images
	Problems map[string]int64       `json:"problems,omitempty"` // number of URLs that failed or were given up, by kind of problem
	GivenUp  map[string]int64       `json:"given_up,omitempty"`
	Hosts    []hostStatus           `json:"hosts,omitempty"` // hosts with pending URLs, those with the most URLs first
	Workers  []session.WorkerStatus `json:"workers,omitempty"`

	Postponed []report.Postponed `json:"postponed,omitempty"` // patterns of postponed URLs, those with the most URLs first

	Overrides session.Overrides `json:"robots_overridden,omitempty"`
	Orders    []store.Order     `json:"orders,omitempty"`
	session.Limits

	rows []view.End
	all  int64
	at   time.Time // current time by the clock of the store, which may be on a database server
}

type hostStatus struct {
	Host    string         `json:"host"`
	Pending int            `json:"pending"`
	Until   time.Time      `json:"blocked_until,omitzero"`
	Delay   float64        `json:"delay_seconds,omitempty"`
	Spent   frontier.Spent `json:"spent,omitzero"`       // what counts against --max-host-pages and --max-host-bytes
	Alone   string         `json:"left_alone,omitempty"` // reason why the last run stopped sending requests to this host; "" if it did not
}

func printStatus(ctx context.Context, out io.Writer, s *readStore, asJSON bool) error {
	st, err := readStatus(ctx, s.Reader, time.Now()) // not s, which would hide the clock of its Reader
	if err != nil {
		return err
	}
	if asJSON {
		return writeLine(out, st)
	}
	fmt.Fprintln(out, report.Counted(st.all, "URL"))
	for _, row := range st.rows {
		session.PrintCount(out, row.Name, row.URLs, row.Note)
	}
	if len(st.Postponed) > 0 {
		session.PrintPostponed(out, st.Postponed)
	}
	st.Overrides.Print(out)
	for _, o := range st.Orders {
		fmt.Fprintf(out, "order by %s at %s: %s\n", harmless.Line(o.By), o.At.Format(time.RFC3339), harmless.Line(o.Text()))
	}
	for _, line := range st.Lines() {
		fmt.Fprintln(out, line)
	}
	if err := printWorkers(out, st.Workers, st.at); err != nil || len(st.Hosts) == 0 {
		return err
	}
	fmt.Fprintf(out, "%s with pending URLs\n", report.Counted(len(st.Hosts), "host"))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, h := range st.Hosts[:min(len(st.Hosts), session.MaxHosts)] {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", harmless.Line(h.Host), report.Grouped(h.Pending), h.note())
	}
	return w.Flush()
}

func (h hostStatus) note() string {
	var notes []string
	if h.Alone != "" {
		notes = append(notes, "the last run suspended the host: "+harmless.Line(h.Alone))
	}
	if !h.Until.IsZero() {
		notes = append(notes, "the host asked the crawler to send no requests until "+h.Until.Format(time.RFC3339))
	}
	if h.Spent != (frontier.Spent{}) {
		notes = append(notes, fmt.Sprintf("%s with %s count against its budget", report.Counted(h.Spent.Pages, "page"), report.Bytes(h.Spent.Bytes)))
	}
	if h.Delay > 0 {
		notes = append(notes, fmt.Sprintf("the host asked for a delay of %v between requests", time.Duration(h.Delay*float64(time.Second))))
	}
	return strings.Join(notes, ", ")
}

func readStatus(ctx context.Context, s store.Reader, now time.Time) (st status, err error) {
	c, err := session.ReadCounts(ctx, s)
	if err != nil {
		return st, err
	}
	st.URLs, st.Pages, st.Other, st.Problems, st.GivenUp = c.ByName(), c.All.Pages(), c.All.Other, c.All.Problems, c.All.GivenUp
	st.rows, st.all = c.Rows()
	st.at = session.TimeAt(ctx, s)
	var errs [6]error
	st.Postponed, errs[0] = report.PostponedIn(ctx, s)
	st.Workers, errs[1] = session.WorkersAt(ctx, s, st.at)
	st.Limits, errs[2] = session.ReadLimits(ctx, s)
	st.Overrides, errs[3] = session.ReadOverrides(ctx, s)
	st.Orders, errs[4] = store.ReadOrders(ctx, s)
	alone, err := store.LeftAlone(ctx, s)
	errs[5] = err
	if err := cmp.Or(errs[:]...); err != nil {
		return st, err
	}
	for h, err := range s.Hosts(ctx) {
		if err != nil {
			return st, err
		}
		row := hostStatus{Host: h.Name, Pending: h.Pending, Delay: h.Rest.Delay.Seconds(), Alone: alone[h.Name].Why, Spent: h.Rest.Spent}
		if h.Rest.Blocked.After(now) {
			row.Until = h.Rest.Blocked.UTC()
		}
		st.Hosts = append(st.Hosts, row)
	}
	slices.SortFunc(st.Hosts, func(a, b hostStatus) int {
		return cmp.Or(cmp.Compare(b.Pending, a.Pending), cmp.Compare(a.Host, b.Host))
	})
	return st, nil
}

// addState adds a state by its name, or all states, to those whose URLs are listed.
func (f *statusFlags) addState(name string) error {
	if name == "all" {
		f.asked = slices.Clone(session.States)
		return nil
	}
	i := slices.IndexFunc(session.States, func(s session.NamedState) bool { return s.Name == name })
	if i < 0 {
		return errors.New("must be pending, fetched, redirected, blocked, postponed, failed, given-up, outside or all")
	}
	f.asked = append(f.asked, session.States[i])
	return nil
}

type urlStatus struct {
	URL      string `json:"url"`
	State    string `json:"state"`
	Status   int    `json:"status,omitempty"`
	Problem  string `json:"problem,omitempty"`
	Detail   string `json:"detail,omitempty"`
	Tries    int    `json:"tries,omitempty"`
	Location string `json:"location,omitempty"`

	At time.Time `json:"at,omitzero"` // time of the last visit; zero if the URL was never visited
}

// listURLs prints the URLs in the given states, each with the reason for its state. The text output
// names the state only if several states were asked for.
func listURLs(ctx context.Context, out io.Writer, s store.Reader, asked []session.NamedState, asJSON bool) error {
	print := func(u urlStatus) error {
		if asJSON {
			return writeLine(out, u)
		}
		columns := []string{harmless.Line(u.URL), harmless.Line(u.why())}
		if len(asked) > 1 {
			columns = slices.Insert(columns, 1, u.State)
		}
		_, err := fmt.Fprintln(out, strings.TrimRight(strings.Join(columns, "\t"), "\t"))
		return err
	}
	var recorded []session.NamedState // the states whose URLs may have records in the store
	for _, state := range asked {
		if state.State != frontier.Pending {
			recorded = append(recorded, state)
		}
		if state.State != frontier.Pending && state.State != frontier.Outside {
			continue
		}
		for url, err := range s.URLs(ctx, state.State) {
			if err != nil {
				return err
			}
			url, why := frontier.Left(url)
			if state.State == frontier.Outside && why == "" {
				continue // it has a record
			}
			if err := print(urlStatus{URL: url, State: state.Name, Detail: why}); err != nil {
				return err
			}
		}
	}
	if len(recorded) == 0 {
		return nil
	}
	for page, err := range s.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			return err
		}
		r := &page.Record
		i := slices.IndexFunc(recorded, func(n session.NamedState) bool { return r.End() == n.State })
		if i < 0 {
			continue
		}
		if err := print(urlStatus{r.URL, recorded[i].Name, r.Status, r.Problem, r.Detail, r.Tries, r.Location, r.Visited().UTC()}); err != nil {
			return err
		}
	}
	return nil
}

func (u urlStatus) why() string {
	var why []string
	if u.Problem != "" {
		why = append(why, u.Problem)
	}
	if u.Detail != "" && u.Detail != u.Problem {
		why = append(why, u.Detail+session.AdviceOn(u.Problem, u.Detail))
	}
	if u.Tries > 0 {
		why = append(why, "tried "+report.Counted(u.Tries, "time"))
	}
	if u.Location != "" {
		why = append(why, "redirects to "+u.Location)
	}
	if u.Problem != "" && !u.At.IsZero() {
		why = append(why, "at "+u.At.Format(time.RFC3339))
	}
	return strings.Join(why, "; ")
}

func writeLine(out io.Writer, v any) error {
	enc := json.NewEncoder(harmless.JSON(out))
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func printWorkers(out io.Writer, list []session.WorkerStatus, now time.Time) error {
	if len(list) == 0 {
		return nil
	}
	fmt.Fprintln(out, report.Counted(len(list), "worker"))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, s := range list {
		note := ""
		if s.Dead {
			note = fmt.Sprintf("no heartbeat for %v; its hosts are released %v after the last heartbeat", now.Sub(s.Seen).Round(time.Second), session.ClaimsLast)
		}
		fmt.Fprintf(w, "  %s\t%s claimed\t%d URLs in flight\t%s, %.1f a second\t%s\n", harmless.Line(s.Name), report.Counted(s.Hosts, "host"), s.InFlight, report.Counted(s.Pages, "page"), s.PerSecond, note)
	}
	return w.Flush()
}

// hostNamed returns the host of a URL. It returns any other text unchanged.
func hostNamed(given string) string {
	if url, err := frontier.Canonical(given); err == nil && frontier.HasScheme(given) {
		return frontier.HostOf(url)
	}
	return given
}
