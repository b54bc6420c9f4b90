package learn

// # Link farms
//
// A server that answers for any name below its domain can lead a crawl from host to host without
// end. Each host costs a request for robots.txt, and has a rest of its own. So only the first
// mostOfDomain hosts of a registrable domain are crawled normally; all URLs of its other hosts are
// postponed. Domains under which anyone can register a host, such as github.io, are public
// suffixes, and each host there is a domain of its own. The counts are not stored or shared: each
// run and each worker starts at zero.
const (
	mostOfDomain = 256
	mostDomains  = 4096 // domains whose hosts are counted
)

// farms counts the hosts of domains.
type farms map[string]map[string]bool

// among reports whether a host exceeds the limit of its domain, and counts it if not. A counted
// host stays within the limit.
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
