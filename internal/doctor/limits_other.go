//go:build !linux && !darwin

package doctor

// fileLimit is zero: not known.
func fileLimit() uint64 { return 0 }

// freeBytes is -1: not known.
func freeBytes(string) int64 { return -1 }
