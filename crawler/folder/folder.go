// Package folder serves folders of HTML files as sites over loopback, and only to a crawl.
//
// [Sites] gives each folder a host name, and [Serve] starts one server for all of them. The dialer
// calls [Server.Serves] to find out whether the server is responsible for a host. The server does
// not serve files whose names begin with a dot, stores, or files that the caller hides. It never
// changes a file.
package folder

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// # Folders as sites
//
// A folder of HTML files is crawled over HTTP, so that the crawl treats it like any other site. The
// name of the site depends neither on the path of the parent folder nor on the port. In a crawl,
// the URL is http://docs.localhost/, and only the dialer knows that one server on loopback answers
// for all such names.
//
// The character set of a file is unknown, so Content-Type has no charset. Listings have one,
// because this package writes them.
//
// For a folder without an index page, the server writes a listing of its files. A listing is not
// meant for readers, and must not be judged, exported or counted as a page. So it is an Atom feed,
// from which a crawl uses only the links.
//
// Files whose names begin with a dot are not served. A folder of pages may contain a .env or a
// .git, and any page can link to it.
//
// Each folder has only one path, without symbolic links. A path through a symbolic link to a folder
// redirects to this path. Otherwise, a symbolic link to "." would contain the whole site again,
// recursively. A symbolic link to a file is a page of its own, like a copy of the file.
//
// The crawl's own files in the folder, its store and its feed, are not part of the site, so they
// are neither served nor listed. The same is true of any other store.

// A Site is a folder on disk with a host name that does not depend on the port.
type Site struct {
	Host string // such as "docs.localhost"
	Dir  string
}

// maxLabel is the maximum length of a folder's name in a host name. It leaves room for a number
// within the 63 octets that DNS allows.
const maxLabel = 56

// NameOf returns the part of a host name that stands for a folder. It depends only on the last part of
// the folder's path.
func NameOf(dir string) string {
	words := strings.FieldsFunc(strings.ToLower(filepath.Base(dir)), func(c rune) bool {
		return !('a' <= c && c <= 'z' || '0' <= c && c <= '9')
	})
	label := strings.Join(words, "-")
	label = strings.TrimSuffix(label[:min(len(label), maxLabel)], "-")
	return cmp.Or(label, "folder")
}

// Sites returns the folders with their host names, in the order of dirs. A host name is the last
// part of the folder's path in lower-case letters, digits and single hyphens, followed by
// .localhost. If that part has no letters or digits, the name is "folder.localhost". The second
// folder with the same name gets the suffix -2, and so on. A folder that is listed twice is
// returned once.
func Sites(dirs []string) []Site {
	var sites []Site
	for _, dir := range dirs {
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
		if slices.ContainsFunc(sites, func(f Site) bool { return f.Dir == dir }) {
			continue
		}
		label := NameOf(dir)
		host := label + ".localhost"
		for n := 2; slices.ContainsFunc(sites, func(f Site) bool { return f.Host == host }); n++ {
			host = label + "-" + strconv.Itoa(n) + ".localhost"
		}
		sites = append(sites, Site{Host: host, Dir: dir})
	}
	return sites
}

// A Server serves several folders, each under its own host name. A nil Server serves nothing.
type Server struct {
	sites    map[string]*os.Root // maps the host of each site to its open folder
	hidden   []os.FileInfo
	listener net.Listener
	server   *http.Server
	done     chan struct{} // closed when server.Serve has returned
}

// Serve opens the folders and starts serving them. It returns nil if there are no folders.
func Serve(sites []Site, hidden []string) (*Server, error) {
	if len(sites) == 0 {
		return nil, nil
	}
	s := &Server{sites: map[string]*os.Root{}, done: make(chan struct{})}
	for _, name := range hidden {
		if info, err := os.Stat(name); err == nil { // a file that does not exist need not be hidden
			s.hidden = append(s.hidden, info)
		}
	}
	for _, f := range sites {
		root, err := os.OpenRoot(f.Dir)
		if err != nil {
			s.closeSites()
			return nil, fmt.Errorf("open folder %s: %w", f.Host, err)
		}
		s.sites[f.Host] = root
	}
	var err error
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		s.closeSites()
		return nil, fmt.Errorf("serve folders: %w", err)
	}
	s.server = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0), // the crawler records failed requests
	}
	go func() {
		defer close(s.done)
		_ = s.server.Serve(s.listener) // Serve returns after Close
	}()
	return s, nil
}

// Serves reports whether the server is responsible for the host and port in address.
func (s *Server) Serves(address string) bool {
	if s == nil {
		return false
	}
	host, ok := strings.CutSuffix(address, ":80")
	return ok && s.sites[host] != nil
}

// Address returns the address that the server listens on.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Close stops the server, and waits for it to end.
func (s *Server) Close() {
	if s == nil {
		return
	}
	_ = s.server.Close() // ends open requests; the server only reads files, so nothing is lost
	<-s.done
	s.closeSites()
}

func (s *Server) closeSites() {
	for _, root := range s.sites {
		_ = root.Close() // the folder was only used for reading
	}
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	root := s.sites[r.Host]
	if root == nil {
		http.NotFound(w, r)
		return
	}
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	if name == "" {
		name = "."
	}
	err := fs.ErrNotExist
	if !hasDot(name) && !s.hides(root, name) {
		err = s.serveFile(w, r, root, name)
	}
	if err != nil {
		refuse(w, err)
	}
}

func hasDot(name string) bool {
	return name != "." && (name[0] == '.' || strings.Contains(name, "/."))
}

// hides reports whether a path, or a folder that contains it, must not be served.
func (s *Server) hides(root *os.Root, name string) bool {
	if s.hidesOne(root, ".") {
		return true
	}
	for i, c := range name {
		if c == '/' && s.hidesOne(root, name[:i]) {
			return true
		}
	}
	return s.hidesOne(root, name)
}

// hidesOne reports whether a path itself must not be served. It does not check the folders that
// contain it.
func (s *Server) hidesOne(root *os.Root, name string) bool {
	info, err := root.Stat(name)
	if err != nil {
		return false
	}
	if slices.ContainsFunc(s.hidden, func(h os.FileInfo) bool { return os.SameFile(h, info) }) {
		return true
	}
	return info.IsDir() && isStore(root, name)
}

// storeMarks are the names of files that every store contains from the start. A site is unlikely to
// contain all of them.
var storeMarks = []string{"MANIFEST", "KEYREGISTRY"}

func isStore(root *os.Root, dir string) bool {
	return !slices.ContainsFunc(storeMarks, func(mark string) bool {
		info, err := root.Stat(path.Join(dir, mark))
		return err != nil || !info.Mode().IsRegular()
	})
}

func refuse(w http.ResponseWriter, err error) {
	status := http.StatusNotFound // symbolic links that lead out of the folder also get this status
	if errors.Is(err, fs.ErrPermission) {
		status = http.StatusForbidden
	}
	http.Error(w, http.StatusText(status), status)
}

func (s *Server) serveFile(w http.ResponseWriter, r *http.Request, root *os.Root, name string) error {
	info, err := root.Stat(name) // check the type before opening, because opening a named pipe would block
	if err != nil {
		return err
	}
	slash := strings.HasSuffix(r.URL.Path, "/")
	target, err := realName(root, name, info.IsDir())
	switch {
	case err != nil:
		return err
	case target != name:
		w.Header().Set("Location", rooted(target, info.IsDir()))
		w.WriteHeader(http.StatusMovedPermanently)
		return nil
	case info.IsDir() && !slash:
		w.Header().Set("Location", relative(path.Base(name))+"/")
		w.WriteHeader(http.StatusMovedPermanently)
		return nil
	case info.IsDir():
		return s.serveDir(w, r, root, name)
	case !info.Mode().IsRegular() || slash:
		return fs.ErrNotExist
	}
	return sendFile(w, r, root, name)
}

// realName resolves the symbolic links to folders in a path. It fails if the real path leads out of
// the site, or has a part that begins with a dot.
func realName(root *os.Root, name string, isDir bool) (string, error) {
	dir, file := path.Dir(name), path.Base(name)
	if isDir {
		dir, file = name, "."
	}
	top, err := filepath.EvalSymlinks(root.Name())
	if err != nil {
		return "", err
	}
	place, err := filepath.EvalSymlinks(filepath.Join(top, filepath.FromSlash(dir)))
	if err != nil {
		return "", err
	}
	place, err = filepath.Rel(top, place)
	if place = filepath.ToSlash(place); err != nil || hasDot(place) {
		return "", fs.ErrNotExist
	}
	return path.Join(place, file), nil
}

// rooted returns the URL path of a file or folder, from the root of its site.
func rooted(name string, isDir bool) string {
	if name == "." {
		return "/"
	}
	target := "/" + strings.ReplaceAll(url.PathEscape(name), "%2F", "/")
	if isDir {
		target += "/"
	}
	return target
}

func sendFile(w http.ResponseWriter, r *http.Request, root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	tag, err := etagOf(f)
	if err != nil {
		return err
	}
	w.Header().Set("ETag", tag)
	w.Header().Set("Content-Type", fileType(name, f))
	http.ServeContent(w, r, "", time.Time{}, f)
	return nil
}

// etagOf returns the ETag of a file, which is a hash of its content. Size and time are not enough,
// because two versions may have the same size and, if they were copied or unpacked, the same time.
// They are used only for a file that is larger than any page.
func etagOf(f *os.File) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if info.Size() > maxHashed {
		return fmt.Sprintf(`"%x-%x"`, info.Size(), info.ModTime().UnixNano()), nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	_, err = f.Seek(0, io.SeekStart)
	return hashTag(h.Sum(nil)), err
}

const maxHashed = 32 << 20

func hashTag(sum []byte) string { return fmt.Sprintf(`"%x"`, sum[:16]) }

func (s *Server) serveDir(w http.ResponseWriter, r *http.Request, root *os.Root, name string) error {
	for _, index := range []string{"index.html", "index.htm"} {
		index = path.Join(name, index)
		if info, err := root.Stat(index); err == nil && info.Mode().IsRegular() {
			return sendFile(w, r, root, index)
		}
	}
	entries, err := fs.ReadDir(root.FS(), name) // the entries are sorted by name
	if err != nil {
		return err
	}
	list := listing(s.links(root, name, entries))
	sum := sha256.Sum256(list)
	w.Header().Set("ETag", hashTag(sum[:]))
	w.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(list))
	return nil
}

// links returns the URLs of a folder's entries, except for entries that are not served.
func (s *Server) links(root *os.Root, dir string, entries []fs.DirEntry) []string {
	var all []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || s.hidesOne(root, path.Join(dir, e.Name())) {
			continue
		}
		href := relative(e.Name())
		if e.IsDir() {
			href += "/"
		}
		all = append(all, href)
	}
	return all
}

// relative returns the URL of a file relative to its folder. It begins with "./", because otherwise
// the "a" of a name such as "a:b" would be a scheme.
func relative(name string) string { return "./" + url.PathEscape(name) }

// listing returns a minimal Atom feed of links.
func listing(links []string) []byte {
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<title>Files</title>
`)
	for _, href := range links {
		b.WriteString(`<entry><link href="`)
		_ = xml.EscapeText(&b, []byte(href)) // writing to a buffer never fails
		b.WriteString("\"/></entry>\n")
	}
	b.WriteString("</feed>\n")
	return b.Bytes()
}

// fileTypes are the content types that must not depend on the system's MIME tables, by extension.
var fileTypes = map[string]string{
	".htm":   "text/html",
	".html":  "text/html",
	".xhtml": "application/xhtml+xml",
	".xht":   "application/xhtml+xml",
	".txt":   "text/plain",
}

// fileType returns the Content-Type of a file, based on its name. For names from saved sites, such
// as "about" and "index.php?id=3", it uses the first bytes of the file.
func fileType(name string, f io.ReadSeeker) string {
	ext := strings.ToLower(path.Ext(name))
	if t := fileTypes[ext]; t != "" {
		return t
	}
	t := mime.TypeByExtension(ext)
	if t == "" {
		head := make([]byte, 512) // DetectContentType considers at most 512 bytes
		n, _ := io.ReadFull(f, head)
		t = http.DetectContentType(head[:n])
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return "application/octet-stream"
		}
	}
	t, _, _ = strings.Cut(t, ";")
	return t
}
