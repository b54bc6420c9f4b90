package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestViewCost measures how much a viewer slows down the crawl that it shows. It alternates between
// crawls with and without a viewer. The viewer keeps the page Now open, and opens a page each
// second. The result is the processor time of the crawl, including the answers to the viewer. It is
// only logged, because it depends on the machine.
//
// SKINK_LONG=short crawls testdata/site once each way. SKINK_LONG=full crawls each folder in
// SKINK_SITES five times each way.
func TestViewCost(t *testing.T) {
	folders, rounds := []string{"testdata/site"}, 1
	if long(t) == full {
		if folders = filepath.SplitList(os.Getenv("SKINK_SITES")); len(folders) == 0 {
			t.Skip("set SKINK_SITES to the folder of a site of some thousand pages")
		}
		rounds = 5
	}
	for _, folder := range folders {
		site := httptest.NewServer(http.FileServer(http.Dir(folder)))
		t.Cleanup(site.Close)
		var alone, looked time.Duration
		for range rounds {
			without, pages := crawlLooked(t, site.URL, false)
			with, same := crawlLooked(t, site.URL, true)
			if pages != same || pages == 0 {
				t.Errorf("%s: %d pages with nobody looking, %d with somebody", folder, pages, same)
			}
			t.Logf("%s, %d pages: %v of processor time alone, %v looked at", folder, pages, without, with)
			alone, looked = alone+without, looked+with
		}
		t.Logf("%s: the view costs %+.1f%%", folder, 100*(float64(looked)/float64(alone)-1))
	}
}

// crawlLooked crawls a site, with or without a viewer. It returns the processor time and the number
// of pages.
func crawlLooked(t *testing.T, site string, look bool) (took time.Duration, pages int) {
	t.Helper()
	store := filepath.Join(t.TempDir(), "store")
	args := []string{"--store", store, "--delay", "0", "--parallel", "4", "--per-host", "8", "--allow-private", "127.0.0.0/8", site + "/"}
	if look {
		args = append(args, "--view=0")
	}
	c := startCrawl(t, args...)
	if look {
		select {
		case c.url = <-c.shown:
		case <-time.After(patience):
			t.Fatal("the crawl is not shown")
		}
		seen := make(chan int, 1)
		over := make(chan struct{})
		go func() { seen <- lookOn(c.url, over) }()
		defer func() {
			close(over)
			if n := <-seen; n == 0 && long(t) == full { // a short crawl may end before the first answer
				t.Error("nobody was told anything of the crawl")
			}
		}()
	}
	if err := <-c.ended; err != nil {
		t.Fatalf("%v\n%s", err, c.said)
	}
	state := c.cmd.ProcessState
	rows := readTable(t, runIn(t, filepath.Dir(store), "report", "--about", "pages", "--format", "csv", "--store", store))
	for _, row := range rows {
		if row["kind"] == "page" {
			pages++
		}
	}
	return state.UserTime() + state.SystemTime(), pages
}

// lookOn views a crawl like a user with a browser and the page Now open, until the crawl is over. It
// returns how often it received the page Now.
func lookOn(view string, over chan struct{}) (told int) {
	places := []string{"/pages", "/clusters", "/pages?sort=words&down=1", "/map", "/pages?q=the"}
	for i := 0; ; i++ {
		for _, place := range []string{"/now", places[i%len(places)]} {
			if resp, err := http.Get(view + place); err == nil {
				_, err = io.Copy(io.Discard, resp.Body) // the crawl may end at any time
				resp.Body.Close()
				if err == nil && place == "/now" && resp.StatusCode == http.StatusOK {
					told++
				}
			}
		}
		select {
		case <-over:
			return told
		case <-time.After(time.Second):
		}
	}
}
