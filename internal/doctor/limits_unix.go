//go:build linux || darwin

package doctor

import "syscall"

// fileLimit is how many files this process may open.
func fileLimit() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	// Go raises the lower limit to the upper one when a process starts.
	return limit.Cur
}

// freeBytes is what we may still write to the file system of dir; -1: not known.
func freeBytes(dir string) int64 {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return -1
	}
	return int64(fs.Bavail) * int64(fs.Bsize) //nolint:unconvert // it is a uint32 on darwin
}
