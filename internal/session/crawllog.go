package session

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"skink/crawler"
	"skink/crawler/access"
	"skink/frontier"
	"skink/internal/output"
)

// # The crawl log
//
// The log has a line for each request and each URL that was refused, in the format of the crawl.log
// of Heritrix 3. Its manual, in the section about logs, explains the fields. A field without a value is
// a hyphen.
//
// Differences: The path has a letter for each step from the nearest seed, but steps to redirects and style
// sheets come last. The referrer of a sitemap is the home page, and a URL that was found by a run without the
// log has none. The source tag is missing, and so are lines for robots.txt, and for files that only a
// browser requests.
type crawlLog struct {
	mu   sync.Mutex
	file *os.File // guarded by mu
	err  error    // guarded by mu: the first error; no line is written after it
}

// openCrawlLog opens the log, and continues after its last complete line. It returns nil if there is
// no log.
func openCrawlLog(to *output.File) (*crawlLog, error) {
	if to == nil {
		return nil, nil
	}
	if to.Name() == "-" || frontier.HasScheme(to.Name()) {
		return nil, usagef("--crawl-log %s: specify a file", to.Name())
	}
	f, err := to.Open()
	if err == nil {
		err = toLastLine(f)
	}
	if err != nil {
		return nil, fmt.Errorf("open the crawl log: %w", err)
	}
	return &crawlLog{file: f}, nil
}

// toLastLine moves to the end of the last complete line, and removes what a killed process left
// after it.
func toLastLine(f *os.File) error {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	tail := make([]byte, min(end, 64<<10))
	begin := make([]byte, min(end, int64(len(time.DateOnly))+1))
	if _, err := f.ReadAt(begin, 0); err != nil {
		return err
	}
	if _, err := time.Parse("2006-01-02T", string(begin)); err != nil && end > 0 {
		return fmt.Errorf("%s is not a crawl log: choose another file", f.Name())
	}
	if _, err := f.ReadAt(tail, end-int64(len(tail))); err != nil {
		return err
	}
	end -= int64(len(tail) - 1 - bytes.LastIndexByte(tail, '\n'))
	if err := f.Truncate(end); err != nil && len(tail) > 0 {
		return err
	}
	_, err = f.Seek(end, io.SeekStart)
	return err
}

// add logs a page.
func (l *crawlLog) add(p *crawler.Page) {
	if l == nil {
		return
	}
	line := logLine(p, time.Now())
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		_, l.err = l.file.WriteString(line)
	}
}

// close returns the first error of the log. No line may be added afterwards.
func (l *crawlLog) close() error {
	if l == nil {
		return nil
	}
	if err := errors.Join(l.err, l.file.Close()); err != nil {
		return fmt.Errorf("write the crawl log: %w", err)
	}
	return nil
}

func logLine(p *crawler.Page, now time.Time) string {
	size, digest, began := "-", "-", "-"
	if p.Status != 0 {
		body := p.Body
		if p.Raw != nil {
			body = p.Raw.Body
		}
		sum := sha1.Sum(body)
		size, digest = strconv.Itoa(len(body)), "sha1:"+base32.StdEncoding.EncodeToString(sum[:])
	}
	if p.Took > 0 || p.Status != 0 {
		began = fmt.Sprintf("%s+%d", strings.ReplaceAll(p.FetchedAt.UTC().Format("20060102150405.000"), ".", ""), p.Took.Milliseconds())
	}
	return fmt.Sprintf("%s %5d %10s %s %s %s %s #000 %s %s - %s\n", now.UTC().Format("2006-01-02T15:04:05.000Z"), logStatus(p), size,
		access.Redacted(p.Item.URL), logPath(&p.Item), cmp.Or(access.Redacted(p.Item.From), "-"), logType(p), began, digest, logNotes(p))
}

// logStatus returns the HTTP status of a page, or a negative number of Heritrix.
func logStatus(p *crawler.Page) int {
	if p.Status != 0 {
		return p.Status
	}
	switch p.Problem {
	case crawler.ProblemDNS:
		return -1
	case crawler.ProblemConnect, crawler.ProblemTLS:
		return -2
	case crawler.ProblemReset, crawler.ProblemHTTP:
		return -3
	case crawler.ProblemTimeout:
		return -4
	case crawler.ProblemLater:
		return -50
	case crawler.ProblemUnrobots:
		return -61
	case crawler.ProblemLogin:
		return -62
	case crawler.ProblemOutside, crawler.ProblemPrivate:
		return -5000
	case crawler.ProblemBudget:
		return -5003
	case crawler.ProblemRobots:
		return -9998
	}
	return -5
}

// logPath returns a letter for each step from a seed to an item: L for a link, R for a redirect, E for
// a file that a page needs, X for a URL that is only checked, and M for a sitemap.
func logPath(item *frontier.Item) string {
	before := strings.Repeat("L", max(item.Depth-1, 0))
	switch item.Kind {
	case frontier.Sitemap:
		return "M"
	case frontier.Check:
		return before + "X"
	case frontier.Requisite:
		return before + strings.Repeat("E", item.Hops+1)
	}
	return cmp.Or(strings.Repeat("L", item.Depth)+strings.Repeat("R", item.Hops), "-")
}

func logType(p *crawler.Page) string {
	media, _, _ := strings.Cut(p.Header.Get("Content-Type"), ";")
	none := "no-type"
	if p.Status == 0 {
		none = "unknown"
	}
	return cmp.Or(strings.Join(strings.Fields(media), ""), none)
}

func logNotes(p *crawler.Page) string {
	var notes []string
	if p.Item.Tries > 0 {
		notes = append(notes, fmt.Sprintf("%dt", p.Item.Tries+1))
	}
	switch {
	case p.Truncated && p.Problem == crawler.ProblemSize:
		notes = append(notes, "lenTrunc")
	case p.Truncated && p.Problem == crawler.ProblemTimeout:
		notes = append(notes, "timeTrunc")
	}
	return cmp.Or(strings.Join(notes, ","), "-")
}
