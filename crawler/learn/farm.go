package learn

// # Link farms
//
// A server that answers for any name below its domain can lead a crawl from host to host for ever,
// and each of them is asked for its robots.txt, and rests as if it were alone. So only the first
// mostOfDomain hosts of a registrable domain are crawled with the rest; what is on others is put
// last, whatever it is. Domains under which anybody may have a host, such as github.io, are public
// suffixes, and each host there is a domain of its own. A crawl knows what it met itself: another
// run, or another worker, counts anew.
const (
	mostOfDomain = 256
	mostDomains  = 4096 // of which hosts are counted
)

// farms counts the hosts of domains.
type farms map[string]map[string]bool

// among says whether a host is one too many of its domain. A host that was not is not later.
func (f *farms) among(domain, host string) bool {
	if *f == nil || len(*f) > mostDomains {
		*f = farms{}
	}
	hosts := (*f)[domain]
	switch {
	case hosts[host]:
		return false
	case len(hosts) >= mostOfDomain:
		return true
	case hosts == nil:
		hosts = map[string]bool{}
		(*f)[domain] = hosts
	}
	hosts[host] = true
	return false
}
