package session

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"skink/crawler"
	"skink/report"
)

// MaxHosts is the maximum number of hosts shown in each list of hosts.
const MaxHosts = 10

// slow returns at most MaxHosts of the hosts that take long to respond, and the total number of such hosts.
func slow(all []crawler.HostState) ([]crawler.HostState, int) {
	list := slices.DeleteFunc(slices.Clone(all), func(h crawler.HostState) bool { return h.Took == 0 || !h.Slow })
	slices.SortStableFunc(list, func(a, b crawler.HostState) int { return cmp.Compare(b.Took, a.Took) })
	return list[:min(len(list), MaxHosts)], len(list)
}

// leftAlone returns at most MaxHosts of the hosts to which the crawl currently sends no requests,
// and the total number of such hosts.
func leftAlone(all []crawler.HostState, now time.Time) ([]crawler.HostState, int) {
	list := slices.DeleteFunc(slices.Clone(all), func(h crawler.HostState) bool { return !h.Until.After(now) && !h.Budget && h.Alone == "" })
	slices.SortStableFunc(list, func(a, b crawler.HostState) int { return b.Until.Compare(a.Until) })
	return list[:min(len(list), MaxHosts)], len(list)
}

func whyAlone(h crawler.HostState, now time.Time) string {
	switch wait := h.Until.Sub(now).Round(time.Second); {
	case h.Alone != "":
		return "suspended until the end of the run: " + h.Alone
	case h.Budget:
		return "the host has reached --max-host-pages or --max-host-bytes"
	case h.Hopeless:
		return fmt.Sprintf("the host did not respond %s in a row; next request in %v", report.Counted(h.Fails, "time"), wait)
	case h.Fails > 0:
		return fmt.Sprintf("requests to the host failed %s in a row; next request in %v", report.Counted(h.Fails, "time"), wait)
	default:
		return fmt.Sprintf("the host asked the crawler to wait; next request in %v", wait)
	}
}

func hostsText(all []crawler.HostState, now time.Time) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	slow, n := slow(all)
	fmt.Fprintf(w, "slow hosts: %s of %s\n", report.Grouped(n), report.Grouped(len(all)))
	for _, h := range slow {
		fmt.Fprintf(w, "  %s:\tresponses take %s,\tone request every %s,\t%s\n", h.Name, report.Duration(h.Took), report.Duration(h.Rest), report.Counted(h.Requests, "request"))
	}
	alone, n := leftAlone(all, now)
	fmt.Fprintf(w, "suspended hosts: %s\n", report.Grouped(n))
	for _, h := range alone {
		fmt.Fprintf(w, "  %s\t%s\n", h.Name, whyAlone(h, now))
	}
	w.Flush() // writes to a strings.Builder never fail
	return b.String()
}

// logHosts writes one log record per host.
func logHosts(log *slog.Logger, all []crawler.HostState, now time.Time) {
	slow, _ := slow(all)
	for _, h := range slow {
		log.Info("slow host", "host", h.Name, "answer_seconds", h.Took.Seconds(), "rest_seconds", h.Rest.Seconds(), "requests", h.Requests)
	}
	alone, _ := leftAlone(all, now)
	for _, h := range alone {
		log.Info("suspended host", "host", h.Name, "why", whyAlone(h, now), "fails", h.Fails)
	}
}
