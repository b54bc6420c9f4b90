package extract

import "encoding/json"

// ManifestFiles returns the addresses of the pictures in the manifest of a web application (W3C Web
// Application Manifest), as written. It returns nil if the bytes are no manifest.
func ManifestFiles(manifest []byte) (hrefs []string) {
	type pictures []struct {
		Src string `json:"src"`
	}
	var m struct {
		Icons       pictures `json:"icons"`
		Screenshots pictures `json:"screenshots"`
		Shortcuts   []struct {
			Icons pictures `json:"icons"`
		} `json:"shortcuts"`
	}
	if json.Unmarshal(manifest, &m) != nil {
		return nil
	}
	all := append(m.Icons, m.Screenshots...)
	for _, s := range m.Shortcuts {
		all = append(all, s.Icons...)
	}
	for _, p := range all {
		if href := cleanHref(p.Src); leadsSomewhere(href) {
			hrefs = append(hrefs, href)
		}
	}
	return hrefs
}
