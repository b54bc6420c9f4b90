package extract_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"skink/extract"
)

// # What each rule is worth
//
// The test switches off one rule after the other, and measures four sets of pages. The folder that
// SKINK_EXTRACTION names holds two of them, which people have annotated:
//
//	wcxb-dev  web content extraction benchmark of Murrough Foley: the F1 of the words, averaged over pages
//	aeb       article extraction benchmark of Scrapinghub: the F1 of runs of four words
//
// The other two are the containers of containers_test.go, and articles in the templates of other
// pages. For the latter, internal/tools/graft gives the share with a resemblance of at least .9.

const leastWorth = .001

// TestRulesWorth fails if a rule is worth less than leastWorth on every set. It takes some minutes.
func TestRulesWorth(t *testing.T) {
	root := os.Getenv("SKINK_EXTRACTION")
	if root == "" {
		t.Skip("SKINK_EXTRACTION does not name a folder with annotated pages")
	}
	pages := append(wcxbPages(t, root), aebPages(t, root)...)
	tool := filepath.Join(t.TempDir(), "graft")
	if out, err := exec.Command("go", "build", "-o", tool, "skink/internal/tools/graft").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	figures := func(rule string) (all [4]float64) {
		opt := extract.Options{}.Without(rule)
		all[0], all[1] = scores(t, pages, opt)
		all[2] = containersKept(t, opt)
		all[3] = grafts(t, tool, filepath.Join(root, "wcxb-dev"), rule)
		return all
	}
	with := figures("")
	t.Logf("%-12s %8s %8s %10s %8s\n%-12s %8.4f %8.4f %10.4f %8.4f", "without", "wcxb-dev", "aeb", "containers", "grafts", "", with[0], with[1], with[2], with[3])
	for _, r := range extract.Rules() {
		without, worth := figures(r.Name), 0.
		row := fmt.Sprintf("%-12s", r.Name)
		for i, width := range []int{8, 8, 10, 8} {
			row += fmt.Sprintf(" %+*.4f", width, without[i]-with[i])
			worth = max(worth, with[i]-without[i])
		}
		t.Log(row)
		if worth < leastWorth {
			t.Errorf("the rule %q is worth %.4f at most: remove it", r.Name, worth)
		}
	}
}

// An annotated page is a page and its main text as a person sees it.
type annotated struct {
	body    []byte
	text    string
	article bool // whether runs of four words are compared, as the article benchmark does
}

func wcxbPages(t *testing.T, root string) (pages []annotated) {
	files, _ := filepath.Glob(filepath.Join(root, "wcxb-dev/ground-truth/*.json"))
	for _, name := range files {
		var truth struct {
			GroundTruth struct {
				Text string `json:"main_content"`
			} `json:"ground_truth"`
		}
		readJSON(t, name, &truth)
		id := strings.TrimSuffix(filepath.Base(name), ".json")
		pages = append(pages, annotated{readFile(t, filepath.Join(root, "wcxb-dev/html", id+".html")), truth.GroundTruth.Text, false})
	}
	return pages
}

func aebPages(t *testing.T, root string) (pages []annotated) {
	var truths map[string]struct{ ArticleBody string }
	readJSON(t, filepath.Join(root, "aeb/ground-truth.json"), &truths)
	for id, truth := range truths {
		pages = append(pages, annotated{readFile(t, filepath.Join(root, "aeb/html", id+".html")), truth.ArticleBody, true})
	}
	return pages
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func readJSON(t *testing.T, name string, to any) {
	t.Helper()
	if err := json.Unmarshal(readFile(t, name), to); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// scores returns the F1 of both benchmarks, as their authors define it.
func scores(t *testing.T, pages []annotated, opt extract.Options) (wcxb, aeb float64) {
	var mu sync.Mutex
	var f1, precision, recall []float64
	var group errgroup.Group
	group.SetLimit(4)
	for _, p := range pages {
		group.Go(func() error {
			text := ""
			if doc, err := opt.Parse(p.body, "text/html"); err == nil {
				text = strings.ReplaceAll(doc.Text, "\u00ad", "")
			}
			mu.Lock()
			defer mu.Unlock()
			if !p.article {
				common, got, want := shared(bagOf(tokens(strings.ToLower(text))), bagOf(tokens(strings.ToLower(p.text))))
				f1 = append(f1, wordF1(common, got, want))
				return nil
			}
			common, got, want := shared(bagOf(fours(text)), bagOf(fours(p.text)))
			if got > 0 {
				precision = append(precision, common/got)
			}
			if want > 0 {
				recall = append(recall, common/want)
			}
			return nil
		})
	}
	_ = group.Wait() // no function returns an error
	p, r := mean(precision), mean(recall)
	return mean(f1), 2 * p * r / (p + r)
}

func wordF1(common, got, want float64) float64 {
	switch {
	case got == 0 && want == 0:
		return 1
	case common == 0:
		return 0
	}
	p, r := common/got, common/want
	return 2 * p * r / (p + r)
}

// shared returns the number of words that two bags have in common, and the size of each.
func shared(got, want bag) (common, sizeGot, sizeWant float64) {
	sizeGot, sizeWant = float64(got.size()), float64(want.size())
	return float64(got.take(want)), sizeGot, sizeWant
}

// tokens returns the runs of letters, digits and underscores.
func tokens(text string) []string {
	return regexp.MustCompile(`[\pL\pN_]+`).FindAllString(text, -1)
}

// fours returns the runs of four tokens, or all tokens of a shorter text as one run.
func fours(text string) (runs []string) {
	words := tokens(text)
	for i := 0; i < max(len(words)-3, min(len(words), 1)); i++ {
		runs = append(runs, strings.Join(words[i:min(i+4, len(words))], " "))
	}
	return runs
}

func mean(all []float64) (sum float64) {
	for _, v := range all {
		sum += v / float64(len(all))
	}
	return sum
}

// containersKept returns the F1 of the words in the containers of the golden files, so that a rule
// that keeps everything is no gain.
func containersKept(t *testing.T, opt extract.Options) float64 {
	var all measured
	for _, p := range goldenPages(t) {
		all.add(p.name, measure(t, p, opt))
	}
	return wordF1(float64(all.kept), float64(all.text), float64(all.words))
}

var nearlyEqual = regexp.MustCompile(`grafts .*≥ \.9 in ([0-9.]+)%`)

func grafts(t *testing.T, tool, articles, rule string) float64 {
	out, err := exec.Command(tool, "-articles", articles, "-templates", "2", "-without", rule).CombinedOutput()
	found := nearlyEqual.FindSubmatch(out)
	if err != nil || found == nil {
		t.Fatalf("%v\n%s", err, out)
	}
	share, _ := strconv.ParseFloat(string(found[1]), 64)
	return share / 100
}
