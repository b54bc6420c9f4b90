//go:build !linux

package badger

func residentFiles() (int64, bool) { return 0, false }

func giveBack([]byte) {}
