package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

type shopServer struct {
	shop *shop

	mu      sync.Mutex
	fetched int            // guarded by mu: responses with a page
	groups  map[string]int // guarded by mu: number of responses by text
	hosts   map[string]int // guarded by mu: responses with a page, by host
	missing int            // guarded by mu: requests for robots.txt, sitemaps and missing pages
	plain   []string       // guarded by mu: groups on plain.localhost, in the order first fetched
}

func newShopServer(s *shop) *shopServer {
	return &shopServer{shop: s, groups: map[string]int{}, hosts: map[string]int{}}
}

// Sold reports a crawl's requests to the shop, and how many texts it found.
type Sold struct {
	Fetched int            `json:"fetched"` // responses with a page
	Unique  int            `json:"unique"`  // different texts among them
	Copies  int            `json:"copies"`  // pages whose text had been fetched before
	All     int            `json:"all"`     // different texts in the shop
	Other   int            `json:"other"`   // requests for robots.txt, sitemaps and missing pages
	Hosts   map[string]int `json:"hosts"`   // responses with a page, by host
	Missing []string       `json:"missing"` // groups whose text was not fetched; at most 100
	Plain   []string       `json:"plain"`   // groups on plain.localhost, in the order first fetched
	Seeds   []string       `json:"seeds"`
}

func (s *shopServer) sofar() Sold {
	s.mu.Lock()
	defer s.mu.Unlock()
	sold := Sold{Fetched: s.fetched, Unique: len(s.groups), Copies: s.fetched - len(s.groups), Other: s.missing, Hosts: map[string]int{}}
	for _, group := range s.shop.groups() {
		sold.All++
		if s.groups[group] == 0 && len(sold.Missing) < 100 {
			sold.Missing = append(sold.Missing, group)
		}
	}
	sold.Plain = slices.Clone(s.plain)
	for host, n := range s.hosts {
		sold.Hosts[host] = n
	}
	for _, host := range []string{"shop", "mirror", "soft", "plain"} {
		sold.Seeds = append(sold.Seeds, s.shop.origin(host)+"/")
	}
	return sold
}

func (s *shopServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, ok := strings.CutSuffix(r.Host, fmt.Sprintf(".localhost:%d", s.shop.port))
	switch {
	case !ok:
		_ = json.NewEncoder(w).Encode(s.sofar())
	case host == "shop" && (r.URL.Path == "/robots.txt" || strings.HasSuffix(r.URL.Path, ".xml")):
		s.count("", "")
		s.list(w, r.URL.Path)
	default:
		p := s.shop.page(host, r.URL.Path, r.URL.RawQuery)
		s.count(host, p.group)
		if p.group == "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		s.write(w, p)
	}
}

func (s *shopServer) count(host, group string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if group == "" {
		s.missing++
		return
	}
	s.fetched++
	s.hosts[host]++
	if s.groups[group]++; host == "plain" && s.groups[group] == 1 {
		s.plain = append(s.plain, group)
	}
}

func (s *shopServer) write(out io.Writer, p shopPage) {
	w := bufio.NewWriter(out)
	defer w.Flush()
	fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><title>%s</title></head>\n<body><main><article>\n<p>%s\n</article></main><nav><ul>",
		p.group, strings.Join(s.shop.words(p.group), " "))
	for _, link := range p.links {
		fmt.Fprintf(w, "\n<li><a href=\"%s\">more</a></li>", html.EscapeString(link))
	}
	io.WriteString(w, "\n</ul></nav></body></html>\n")
}

func (s *shopServer) list(w http.ResponseWriter, path string) {
	origin := s.shop.origin("shop")
	switch path {
	case "/robots.txt":
		fmt.Fprintf(w, "User-agent: *\nDisallow:\nSitemap: %s/maps/index.xml\n", origin)
	case "/maps/index.xml":
		fmt.Fprintf(w, "<sitemapindex><sitemap><loc>%s/maps/products.xml</loc></sitemap><sitemap><loc>/maps/rest.xml</loc></sitemap></sitemapindex>", origin)
	case "/maps/products.xml":
		s.urlset(w, "/product/", s.shop.products)
	case "/maps/rest.xml":
		s.urlset(w, "/left-over/", shopOrphans)
	default:
		http.Error(w, "no such list", http.StatusNotFound)
	}
}

func (s *shopServer) urlset(w io.Writer, path string, n int) {
	io.WriteString(w, "<urlset>")
	for i := range n {
		fmt.Fprintf(w, "<url><loc>%s%s%d</loc></url>", s.shop.origin("shop"), path, i)
	}
	io.WriteString(w, "</urlset>")
}
