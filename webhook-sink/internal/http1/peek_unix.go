//go:build unix

package http1

import "syscall"

// peeker looks at a socket without taking anything off it, and without waiting.
type peeker struct {
	socket syscall.RawConn // nil: there is none, as with a pipe
	look   func(fd uintptr) bool
	err    error
	byte   [1]byte
}

// quiet reports that the connection is open and has nothing to read.
func (p *peeker) quiet() bool {
	if p.look == nil {
		p.look = p.recv // kept, as making it allocates
	}
	p.err = nil
	if p.socket.Read(p.look) != nil {
		return false
	}
	return p.err == syscall.EAGAIN //nolint:errorlint // an errno straight from the system call
}

func (p *peeker) recv(fd uintptr) bool {
	for {
		_, _, p.err = syscall.Recvfrom(int(fd), p.byte[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		if p.err != syscall.EINTR { //nolint:errorlint // an errno straight from the system call
			return true // don't wait for it to become readable
		}
	}
}
