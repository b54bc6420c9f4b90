package warc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
)

// # POST requests in an index
//
// A URL is not enough to find the response to a POST request. Players such as ReplayWeb.page and pywb look
// for a URL whose query ends in __wb_method=POST and the body as a query. The index has the method and this
// query as fields of their own. The query of each type of body is that of warcio.js 2.4, which ReplayWeb.page
// uses. A player that computes another query finds nothing.
//
// Known weaknesses: Of several equal names in a form or an object, warcio.js reads only the last. It also moves
// names of objects that are whole numbers to the front.

const (
	post      = "POST"
	maxPosted = 4096 // maximum length of the query
)

// SetRequest adds a request to the index entry of its response. Only POST requests change the entry.
func (e *Entry) SetRequest(request *Record) {
	start := make([]byte, len(post)+1)
	if _, err := io.ReadFull(request.Block, start); err != nil || string(start) != post+" " {
		return
	}
	m, err := (&Record{Block: io.MultiReader(bytes.NewReader(start), request.Block)}).Message()
	if err != nil {
		return
	}
	body, _ := io.ReadAll(io.LimitReader(m.Body, maxHead)) // of a damaged record, the part before the damage
	q := postQuery(m.Header.Get("Content-Type"), body)
	e.Method, e.Posted = post, strings.ToValidUTF8(q[:min(len(q), maxPosted)], "")
}

// key returns the URL under which players look for the response.
func (e *Entry) key() string {
	if e.Method == "" {
		return e.URL
	}
	mark := "?"
	if strings.Contains(e.URL, mark) {
		mark = "&"
	}
	return e.URL + mark + "__wb_method=" + e.Method + "&" + e.Posted
}

func postQuery(contentType string, body []byte) string {
	var q query
	kind, _, _ := strings.Cut(contentType, ";")
	switch kind {
	case "application/x-www-form-urlencoded":
		return string(body)
	case "application/json", "text/plain":
		if json.Valid(body) {
			q.read(json.NewDecoder(bytes.NewReader(body)), "", map[string]int{})
		}
	case "multipart/form-data":
		_, boundary, _ := strings.Cut(contentType, "boundary=")
		border := regexp.MustCompile("(?i)-*" + regexp.QuoteMeta(boundary) + "-*")
		for _, part := range border.Split(string(body), -1) {
			if m := onePart.FindStringSubmatch(part); m != nil {
				q.add(m[1], m[2])
			}
		}
	default:
		return "__wb_post_data=" + base64.StdEncoding.EncodeToString(body)
	}
	return strings.Join(q, "&")
}

// onePart finds the name and the first line of a part of a form.
var onePart = regexp.MustCompile(`(?i)name="([^"]+)"\r\n\r\n([^\r\n]*)`)

// A query is a list of names and values, which are escaped as URLSearchParams does it.
type query []string

var escapes = strings.NewReplacer("%2A", "*", "~", "%7E")

func (q *query) add(name, value string) {
	*q = append(*q, escapes.Replace(url.QueryEscape(name)+"="+url.QueryEscape(value)))
}

// read adds the next value of a valid JSON text. An object or a list adds all values in it, under their
// innermost names. times counts the values with each name.
func (q *query) read(in *json.Decoder, name string, times map[string]int) {
	token, _ := in.Token()
	switch token {
	case json.Delim('['), json.Delim('{'):
		for in.More() {
			if token == json.Delim('{') {
				key, _ := in.Token()
				name = fmt.Sprint(key)
			}
			q.read(in, name, times)
		}
		_, _ = in.Token()
		return
	case "":
		return
	case 0.0: // also -0
		token = "0"
	}
	text, ok := token.(string)
	if !ok {
		b, _ := json.Marshal(token) // writes numbers as JavaScript does
		text = string(b)
	}
	if times[name]++; times[name] > 1 {
		name = fmt.Sprintf("%s.%d_", name, times[name])
	}
	q.add(name, text)
}
