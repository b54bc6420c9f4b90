package cli

import (
	"net/netip"
	"strings"

	"github.com/spf13/pflag"

	"skink/crawler"
)

// A privateFlag names private hosts and networks to which connections are allowed.
type privateFlag struct{ named []string }

func addPrivateFlag(flags *pflag.FlagSet) *privateFlag {
	f := &privateFlag{}
	flags.StringArrayVar(&f.named, "allow-private", nil, "`HOST` connect to this private host or CIDR range (repeatable)")
	return f
}

// allow adds the hosts and networks to the options of a crawl.
func (f *privateFlag) allow(o *crawler.Options) error {
	for _, p := range f.named {
		if net, err := netip.ParsePrefix(p); err == nil {
			o.AllowNets = append(o.AllowNets, net.Masked())
		} else if addr, err := netip.ParseAddr(p); err == nil {
			o.AllowNets = append(o.AllowNets, netip.PrefixFrom(addr, addr.BitLen()))
		} else if p == "" || strings.ContainsAny(p, "/ ") {
			return usagef("--allow-private %q: try a host, such as intranet.example or localhost:8080, or a CIDR, such as 10.0.0.0/8", p)
		} else {
			o.AllowHosts = append(o.AllowHosts, p)
		}
	}
	return nil
}
