package post

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
	"github.com/anabranch/anabranch/webhook-sink/internal/http1"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/proxy"
)

// The phrases customers read. They are all there are: none tells an address, nor
// whether a port behind it is open. That is why a name that resolves to a refused
// address reads like any other broken connection.
const (
	detailTimeout     = "no response in time"
	detailNetwork     = "connection failed or was interrupted"
	detailAddress     = "address of the endpoint is not public"
	detailNotHTTPS    = "endpoint is not https"
	detailSelfSigned  = "certificate is self-signed; sign it with a certificate authority, one of your own if need be"
	detailExpired     = "certificate has expired or is not yet valid"
	detailWrongHost   = "certificate is for another host name"
	detailWeak        = "certificate is signed over SHA-1 or MD5, which can be forged; have it reissued"
	detailUnknownRoot = "certificate is signed by an unknown authority"
	detailCertificate = "certificate does not verify"
	detailTLS         = "TLS handshake failed"
)

// ofError is the rule for requests without a response. literal says that the
// URL's host is an address and not a name: then its refusal is final, while a
// name may resolve to something better next time.
func ofError(err error, literal bool) outcome.Outcome {
	result := outcome.Outcome{Verdict: outcome.Retry, Cause: cause(err)}
	var (
		handshake *http1.HandshakeError
		refused   *guard.RefusedError
	)
	switch {
	case errors.As(err, &refused) && literal:
		result.Verdict, result.Reason, result.Detail = outcome.Dead, schemas.ReasonAddressRefused, detailAddress
	case timedOut(err):
		result.Reason, result.Detail = schemas.ReasonTimeout, detailTimeout
	case errors.As(err, &handshake):
		result.Verdict, result.Reason, result.Detail = ofHandshake(handshake.Err)
	case http1.IsAlert(err):
		// TLS 1.3 servers refuse a client after its first flight.
		result.Reason, result.Detail = schemas.ReasonTLS, detailTLS
	default:
		result.Reason, result.Detail = schemas.ReasonNetwork, detailNetwork
	}
	return result
}

// ofHandshake is the rule for failed handshakes. Only a self-signed certificate
// is final (spec.md, Transport): whoever runs the endpoint means it so. An expired
// or mistaken one is an accident that is usually mended within the retry window.
func ofHandshake(err error) (outcome.Verdict, schemas.Reason, string) {
	var unverified *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errSelfSigned):
		return outcome.Dead, schemas.ReasonSelfSigned, detailSelfSigned
	case errors.As(err, &unverified):
		// An expired date or another host's name is what verification complains
		// of first, and hides that the certificate is self-signed as well.
		chain := unverified.UnverifiedCertificates
		switch {
		case len(chain) == 0:
		case selfSigned(chain[0]):
			return outcome.Dead, schemas.ReasonSelfSigned, detailSelfSigned
		case weaklySigned(chain[0]): // x509 says that the authority is unknown
			return outcome.Retry, schemas.ReasonTLS, detailWeak
		}
		return outcome.Retry, schemas.ReasonTLS, certificateDetail(unverified.Err)
	case isBroken(err):
		return outcome.Retry, schemas.ReasonNetwork, detailNetwork
	default:
		return outcome.Retry, schemas.ReasonTLS, detailTLS
	}
}

func certificateDetail(err error) string {
	var (
		invalid   x509.CertificateInvalidError
		hostname  x509.HostnameError
		authority x509.UnknownAuthorityError
	)
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return detailExpired
	case errors.As(err, &hostname):
		return detailWrongHost
	case errors.As(err, &authority):
		return detailUnknownRoot
	default:
		return detailCertificate
	}
}

func timedOut(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// isBroken tells a connection that broke during the handshake from a handshake
// that was refused: crypto/tls has no type for most of its own errors, so the
// few that the connection can give are listed instead.
func isBroken(err error) bool {
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) ||
		errors.As(err, &op) && (op.Op == "read" || op.Op == "write")
}

// cause is what an operator may read of err. Most error texts of net/http and
// crypto/x509 quote bytes that the receiver sent, so only those that can't are
// passed on.
func cause(err error) string {
	var (
		refused *guard.RefusedError
		proxied *proxy.StatusError
		lookup  *net.DNSError
		errno   syscall.Errno
		garbled *http1.MalformedError
	)
	switch {
	case errors.As(err, &refused):
		return refused.Error() + ": WEBHOOK_SINK_ALLOW_NETWORKS opens networks that are not public"
	case errors.As(err, &proxied):
		return proxied.Error()
	case errors.As(err, &lookup):
		return lookup.Error()
	case errors.As(err, &errno):
		return errno.Error()
	case errors.As(err, &garbled):
		return garbled.Error()
	default:
		return ""
	}
}
