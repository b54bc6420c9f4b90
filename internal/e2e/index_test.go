package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// An index is an in-memory server that handles bulk requests like Elasticsearch and OpenSearch. It
// answers the first item with "too busy", and refuses items whose title begins with "Refused".
type index struct {
	credentials string // of each request; "" means that it needs none

	mu      sync.Mutex
	docs    map[string]map[string]any // guarded by mu: documents by id
	mapping map[string]any            // guarded by mu: fields by name
	busy    bool                      // guarded by mu: the answer "too busy" has been sent
}

// indexes maps the servers of this process to their indexes.
var indexes sync.Map // maps a *server to its *index

func serveIndex(s *server, credentials string) string {
	x := &index{credentials: credentials, docs: map[string]map[string]any{}}
	indexes.Store(s, x)
	return s.listen(x.ServeHTTP)
}

func (x *index) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if x.credentials != "" && r.Header.Get("Authorization") != x.credentials {
		http.Error(w, `{"error":{"type":"security_exception","reason":"missing authentication credentials"}}`, http.StatusUnauthorized)
		return
	}
	if r.Method == http.MethodPut && r.URL.Path == "/pages" {
		var body struct {
			Mappings struct{ Properties map[string]any }
		}
		err := json.NewDecoder(r.Body).Decode(&body)
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.mapping = body.Mappings.Properties; err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
		return
	}
	if r.Method != http.MethodPost || r.URL.Path != "/pages/_bulk" {
		http.NotFound(w, r)
		return
	}
	json.NewEncoder(w).Encode(map[string]any{"errors": true, "items": x.bulk(r)})
}

func (x *index) bulk(r *http.Request) (items []any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	in := bufio.NewScanner(r.Body)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var action map[string]struct {
			ID string `json:"_id"`
		}
		_ = json.Unmarshal(in.Bytes(), &action)
		for name, a := range action {
			status := http.StatusOK
			if name == "delete" {
				delete(x.docs, a.ID)
			} else {
				var doc map[string]any
				in.Scan()
				_ = json.Unmarshal(in.Bytes(), &doc)
				switch {
				case !x.busy:
					x.busy, status = true, http.StatusTooManyRequests
				case strings.HasPrefix(fmt.Sprint(doc["title"]), "Refused"):
					status = http.StatusBadRequest
				default:
					x.docs[a.ID] = doc
				}
			}
			items = append(items, map[string]any{name: map[string]any{"_id": a.ID, "status": status, "error": map[string]any{"reason": "a reason"}}})
		}
	}
	return items
}

// indexed prints the URLs of the documents of an index, sorted.
func indexed(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 1, "indexed NAME")
	found, _ := indexes.Load(sessionOf(ts).servers[args[0]])
	x := found.(*index)
	x.mu.Lock()
	defer x.mu.Unlock()
	var urls []string
	for doc := range maps.Values(x.docs) {
		urls = append(urls, fmt.Sprint(doc["url"]))
	}
	slices.Sort(urls)
	for _, url := range urls {
		fmt.Fprintln(ts.Stdout(), url)
	}
}
