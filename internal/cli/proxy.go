package cli

import (
	"crypto/x509"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"skink/crawler"
	"skink/crawler/access"
)

type proxyFlags struct {
	proxies []string
	ca      string
}

func addProxyFlags(flags *pflag.FlagSet, o *crawler.Options) *proxyFlags {
	f := &proxyFlags{}
	flags.StringArrayVar(&f.proxies, "proxy", nil, "`URL` connect to hosts through this http, https or socks5 proxy; env uses the proxies set in HTTP_PROXY and HTTPS_PROXY (repeatable)")
	flags.StringVar(&f.ca, "ca-file", "", "`FILE` also trust the certificate authorities in this PEM file")
	isOutput(flags, "ca-file", inputFile, "")
	flags.StringArrayVar(&o.Insecure, "insecure", nil, "`HOST` accept any certificate of this host, which then gets no passwords, cookies or other secrets (repeatable)")
	return f
}

func (f *proxyFlags) apply(o *crawler.Options) error {
	for _, text := range f.proxies {
		if text == "env" {
			o.Proxies.FromEnv = true
			continue
		}
		proxy, err := access.ParseProxy(text)
		if err != nil {
			return usagef("--proxy: %w; to use the proxy settings from the environment, specify --proxy env", err)
		}
		o.Proxies.List = append(o.Proxies.List, proxy)
	}
	if o.Proxies.FromEnv && len(o.Proxies.List) > 0 {
		return usagef("--proxy env and another --proxy cannot be used together: omit one")
	}
	for _, host := range o.Insecure {
		if host == "" || strings.ContainsAny(host, "*/@ ,") {
			return usagef("--insecure %q: must be the name of one host, such as intern.example.org or intern.example.org:8443", host)
		}
	}
	if f.ca == "" {
		return nil
	}
	pem, err := os.ReadFile(f.ca)
	if err != nil {
		return plainError(f.ca, err)
	}
	if o.Roots, err = x509.SystemCertPool(); err != nil {
		o.Roots = x509.NewCertPool()
	}
	if !o.Roots.AppendCertsFromPEM(pem) {
		return fmt.Errorf("--ca-file %s contains no PEM certificate", f.ca)
	}
	return nil
}
