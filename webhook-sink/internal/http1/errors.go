package http1

import (
	"errors"
	"net"

	"github.com/anabranch/anabranch/webhook-sink/internal/http1/internal/response"
)

// HandshakeError is an error of the TLS handshake, before which no byte of a
// request is written.
type HandshakeError struct{ Err error }

// Error quotes what crypto/tls says, which may quote the receiver.
func (e *HandshakeError) Error() string { return "TLS handshake: " + e.Err.Error() }

// Unwrap returns the error of crypto/tls.
func (e *HandshakeError) Unwrap() error { return e.Err }

// MalformedError says that what came back is not a response to a POST. Its text
// quotes nothing.
type MalformedError = response.MalformedError

// errUnasked is for a response to a request of which nothing was written.
var errUnasked = errors.New("response without a request")

// errNotArmed is for a new connection that was cut or closed before its first use.
var errNotArmed = errors.New("connection closed before use")

// IsAlert reports an alert from the peer. tls.AlertError matches only those that
// we send.
func IsAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
