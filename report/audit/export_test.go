package audit

// SetKeptSize sets the largest size of the entries of one crawl, and returns a function that resets it.
func SetKeptSize(size int) (reset func()) {
	before := keptSize
	keptSize = size
	return func() { keptSize = before }
}
