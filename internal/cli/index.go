package cli

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"skink/feed"
	"skink/internal/session"
	"skink/report"
	"skink/store"
)

// credentials returns a header with the user name and password, or the API key, for the search
// index. It reads them from environment variables, and returns nil if none are set.
func credentials() (http.Header, error) {
	user, password, key := os.Getenv(feed.EnvUser), os.Getenv(feed.EnvPassword), os.Getenv(feed.EnvKey)
	switch {
	case key != "" && user != "":
		return nil, usagef("the environment contains both %s and %s: set only one of them", feed.EnvKey, feed.EnvUser)
	case key != "":
		return http.Header{"Authorization": {"ApiKey " + key}}, nil
	case user != "":
		return http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))}}, nil
	}
	return nil, nil
}

// toIndex sends documents, each of which is a page or a passage, to the index.
func (f *exportFlags) toIndex(ctx context.Context, con Console, s store.Reader, opt feed.Options, what string, send func(*feed.Bulk, context.Context) error) error {
	header, err := credentials()
	if err != nil {
		return err
	}
	var refusals []feed.Refusal
	to := feed.BulkOptions{
		URL: f.to, Header: header, Options: opt, Again: f.since.held.Refused,
		Refused: func(r feed.Refusal) { refusals = append(refusals, r) },
	}
	if f.since.cursor != "" {
		to.Keep = func(ctx context.Context, now feed.Place) error { return f.since.writePlace(ctx, con, now) }
	}
	b, err := session.NewIndex(s, to, con.Err)
	if err != nil {
		return err
	}
	err = send(b, ctx)
	if listed := con.files.Of("--refused"); listed != nil {
		err = errors.Join(err, listed.Write(ctx, func(w io.Writer) error { return feed.WriteRefusals(w, refusals) }))
	}
	sent, deleted, refused := b.Counts()
	if err != nil && sent+deleted+refused == 0 {
		return err
	}
	fmt.Fprintf(con.Err, "sent to %s: %s, %s deleted, %s refused\n", f.to, report.Counted(sent, what), report.Grouped(deleted), report.Grouped(refused))
	if f.told(con, "pages", sent+deleted+refused, opt, err) == nil {
		err = session.RefusedError(refused, what)
	}
	return err
}
