//go:build !unix

package http1

import "syscall"

// peeker can't look at sockets here: requests on connections that were closed in
// the meantime fail, and go the way of any other failure.
type peeker struct{ socket syscall.RawConn }

func (*peeker) quiet() bool { return true }
