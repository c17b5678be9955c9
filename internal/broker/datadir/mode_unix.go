//go:build unix

package datadir

import "syscall"

// privacy is whether the modes of files say who may read them.
const privacy = true

// restrictNewFiles makes the files of this process its user's. kfake names the modes of its own files, and others may read
// them by those.
func restrictNewFiles() { syscall.Umask(int(others)) }
