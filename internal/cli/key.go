package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/pflag"

	"skink/base/harmless"
	"skink/crawler/signature"
)

var keyCommand = command{
	name:  "key",
	args:  "new|show FILE...",
	short: "make a key for signing requests",
	long: `
Makes a private key for skink crawl --sign-key, or prints the public part of keys. With the
public part, a site can tell your crawler from others that use its name (Web Bot Auth).

skink key new FILE writes a new key to FILE, readable only by you, and prints the key
directory: a JSON Web Key Set with its public part. Publish the directory at
https://YOUR-SITE/.well-known/http-message-signatures-directory, with the media type
application/http-message-signatures-directory+json. skink key show FILE... prints the
directory of one or more keys again.

These commands make a key, and sign the requests of a crawl with the key:

  skink key new crawler.pem > directory.json
  skink crawl --sign-key crawler.pem --sign-agent https://crawler.example https://example.org/`,
	setup: func(*pflag.FlagSet) runFunc { return runKey },
}

func runKey(_ context.Context, con Console, args []string) error {
	switch args[0] {
	case "new":
		if len(args) != 2 {
			return usagef("specify one file for the key: skink key new crawler.pem")
		}
		key, err := newKeyFile(con, args[1])
		if err != nil {
			return err
		}
		fmt.Fprintf(con.Err, "%s contains the private key %s: keep this file secret\n", harmless.Quoted(args[1]), key.Thumbprint())
		_, err = con.Out.Write(signature.Directory(key))
		return err
	case "show":
		var keys []signature.Key
		for _, name := range args[1:] {
			key, err := readKeyFile(name)
			if err != nil {
				return err
			}
			keys = append(keys, key)
		}
		_, err := con.Out.Write(signature.Directory(keys...))
		return err
	}
	return usagef("unknown action %s: use skink key new FILE or skink key show FILE", brief(args[0]))
}

// newKeyFile generates a key and writes it to a new file that only the owner may read.
func newKeyFile(con Console, name string) (key signature.Key, err error) {
	key, err = signature.NewKey()
	if err != nil {
		return key, err
	}
	to, err := con.files.Claim("key", name, "")
	if err != nil {
		return key, usageError{Err: err}
	}
	err = to.CreateSecret(key.PEM())
	if errors.Is(err, fs.ErrExist) {
		return key, fmt.Errorf("%s already exists: give the name of another file, or print the directory for the existing key with skink key show", name)
	}
	if err != nil {
		return key, fmt.Errorf("write the key: %w", err)
	}
	return key, nil
}

func readKeyFile(name string) (signature.Key, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return signature.Key{}, fmt.Errorf("read the key: %w", err)
	}
	key, err := signature.ParseKey(text)
	if err != nil {
		return key, fmt.Errorf("read the key %s: %w", name, err)
	}
	return key, nil
}

type signFlags struct{ key, agent string }

func addSignFlags(flags *pflag.FlagSet) *signFlags {
	f := &signFlags{}
	flags.StringVar(&f.key, "sign-key", "", "`FILE` sign requests with the private key in this file; skink key new creates a key")
	isOutput(flags, "sign-key", inputFile, "")
	flags.StringVar(&f.agent, "sign-agent", "", "`URL` with --sign-key: https URL of the site that publishes the public key")
	return f
}

// signer returns the signer of requests, or nil if the flags do not ask for signatures.
func (f *signFlags) signer() (*signature.Signer, error) {
	if f.key == "" {
		return nil, nil
	}
	key, err := readKeyFile(f.key)
	if err != nil {
		return nil, err
	}
	s, err := signature.NewSigner(key, f.agent)
	if err != nil {
		return nil, usagef("--sign-agent: %w", err)
	}
	return s, nil
}
