package extract

import "encoding/json"

// ManifestFiles returns the addresses of the pictures in the manifest of a web application (W3C Web
// Application Manifest), as written. It returns nil if the bytes are no manifest.
func ManifestFiles(manifest []byte) (hrefs []string) {
	type pictures []struct{ Src string }
	var m struct {
		Icons, Screenshots pictures
		Shortcuts          []struct{ Icons pictures }
	}
	_ = json.Unmarshal(manifest, &m) // bytes that are no manifest leave m empty
	all := append(m.Icons, m.Screenshots...)
	for _, s := range m.Shortcuts {
		all = append(all, s.Icons...)
	}
	for _, p := range all {
		hrefs = append(hrefs, p.Src)
	}
	return hrefs
}
