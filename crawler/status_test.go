package crawler

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// During a pause, no request starts, however long the pause lasts. After the pause, all URLs are
// fetched.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("http://a.example/1", "http://a.example/2", "http://b.example/1")
		w.takes = func(string) time.Duration { return time.Second }
		c := w.crawl(Options{Parallel: 4, PerHost: 1, Grace: time.Second, UserAgent: "skink", Delay: time.Second, Control: &Control{}})
		c.Obey(&Orders{Paused: true})
		ended := make(chan error, 1)
		go func() { ended <- c.Run(context.Background()) }()
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if len(w.asked) > 0 || !c.Paused() {
			t.Errorf("a paused crawl asked for %v", w.asked)
		}
		c.Obey(&Orders{})
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if len(w.ended) != 3 {
			t.Errorf("%d URLs ended, want 3", len(w.ended))
		}
	})
}

// A crawl can be stopped during a pause.
func TestStopInPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("http://a.example/1")
		c := w.crawl(Options{Parallel: 1, PerHost: 1, UserAgent: "skink", Control: &Control{}})
		c.Obey(&Orders{Paused: true})
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Minute, cancel)
		if err := c.Run(ctx); err != context.Canceled {
			t.Errorf("it ended with %v", err)
		}
	})
}
