package cli

import (
	"path/filepath"

	"github.com/spf13/pflag"

	"skink/internal/archive"
	"skink/warc"
)

// archiveFlags are the flags for keeping the answers of a crawl.
type archiveFlags struct {
	dir    string // folder of the archive; "": answers are not kept
	size   size
	digest string
}

func addArchiveFlags(flags *pflag.FlagSet) *archiveFlags {
	f := &archiveFlags{size: archive.DefaultSize}
	flags.StringVar(&f.dir, "warc", "", "keep every answer that comes, as it came, in WARC files in this folder")
	flags.Var(&f.size, "warc-size", "with --warc, begin another file after so much")
	flags.StringVar(&f.digest, "warc-digest", string(warc.SHA256), "with --warc, how digests are made: sha256 or sha1")
	return f
}

func (f *archiveFlags) check() error {
	switch digest := warc.Digest(f.digest); {
	case digest != warc.SHA256 && digest != warc.SHA1:
		return usagef("--warc-digest %q: try sha256 or sha1", f.digest)
	case f.size < 1:
		return usagef("--warc-size %q: try a size, such as 1GB", f.size.String())
	case f.dir == "":
		return nil
	}
	return mayWrite("--warc", filepath.Join(f.dir, "a.warc.gz"), nil)
}
