package cli

import (
	"path/filepath"

	"github.com/spf13/pflag"

	"skink/internal/session"
	"skink/warc"
)

// addArchiveFlags adds the flags for keeping the answers of a crawl.
func addArchiveFlags(flags *pflag.FlagSet, a *session.Archive) {
	flags.StringVar(&a.Dir, "warc", "", "keep every answer that comes, as it came, in WARC files in this folder")
	flags.Var(size(&a.Size, 1, trySize), "warc-size", "with --warc, begin another file after so much")
	flags.Var(oneOf(&a.Digest, warc.SHA256, warc.SHA1), "warc-digest", "with --warc, how digests are made: sha256 or sha1")
}

// checkArchive refuses a folder in which an archive cannot be kept.
func checkArchive(a session.Archive) error {
	if a.Dir == "" {
		return nil
	}
	return mayWrite("--warc", filepath.Join(a.Dir, "a.warc.gz"), nil)
}
