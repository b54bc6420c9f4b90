package redis

// A visit names what was kept of a page by one attempt to commit it: the partition in
// which it is, and a number counted there. No number is given twice, and each is known
// before the attempt begins, so that postings can name it; an attempt that fails leaves a
// number that nothing will ever have. Numbers are no order: that is the place, which the
// commit gives.
type visit struct {
	part partition
	n    uint64 // from 1; 0: no visit
}

// packed is a visit as one number: 38 bits count, 10 are the partition.
func (v visit) packed() uint64 { return v.n<<partitionBits | uint64(v.part) }

func unpackVisit(packed uint64) visit {
	return visit{partition(packed % partitions), packed >> partitionBits}
}

// chunkSize is how many visits share a hash.
const chunkSize = 64

// recordAt is where the record of a visit is: a hash, and a field of it.
func (s *Store) recordAt(v visit) (chunk, field string) {
	return s.key(v.part, "v", decimal(v.n/chunkSize)), decimal(v.n)
}
