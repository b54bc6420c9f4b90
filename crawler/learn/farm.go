package learn

// # Link farms
//
// A server that answers for any name below its domain can lead a crawl from host to host without
// end. Each host costs a request for robots.txt, and the delay between requests does not slow such
// a crawl down, because each host has its own. So only the first maxOfDomain hosts of a
// registrable domain are crawled normally, and all URLs of its other hosts are postponed. Domains
// under which anyone can register a host, such as github.io, are public suffixes, and each host
// there is a domain of its own. The counts are neither stored nor shared: each run and each worker
// starts at zero.
const (
	maxOfDomain = 256
	maxDomains  = 4096 // number of domains after which all counts are reset to zero
)

type farms map[string]map[string]bool

// among reports whether a host's domain already has maxOfDomain other hosts. If not, it
// counts the host, and always returns false for it from then on.
func (f *farms) among(domain, host string) bool {
	if *f == nil || len(*f) > maxDomains {
		*f = farms{}
	}
	hosts := (*f)[domain]
	switch {
	case hosts[host]:
		return false
	case len(hosts) >= maxOfDomain:
		return true
	case hosts == nil:
		hosts = map[string]bool{}
		(*f)[domain] = hosts
	}
	hosts[host] = true
	return false
}
