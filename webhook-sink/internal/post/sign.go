package post

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // spec.md, Signing of webhook deliveries, asks for HMAC-SHA1
	"encoding/hex"
	"hash"
	"sync"

	"github.com/anabranch/anabranch/schemas"
)

// Signer computes the X-Signature of bodies. It may be used by many goroutines.
type Signer struct {
	pool sync.Pool // of *signing
}

// signing is one computation: a keyed hash, which costs two blocks of SHA-1 less
// than a new one when it is reset, and room for what comes of it.
type signing struct {
	mac  hash.Hash
	sum  [sha1.Size]byte
	text [2 * sha1.Size]byte
}

// NewSigner returns the Signer of a shared secret; nil when the secret is empty.
func NewSigner(secret schemas.Secret) *Signer {
	if secret == "" {
		return nil
	}
	key := []byte(secret.Reveal())
	return &Signer{pool: sync.Pool{New: func() any { return &signing{mac: hmac.New(sha1.New, key)} }}}
}

// Sign returns the lower-case hexadecimal HMAC-SHA1 of body; from a nil Signer,
// the empty string.
func (s *Signer) Sign(body []byte) string {
	if s == nil {
		return ""
	}
	one, _ := s.pool.Get().(*signing)
	defer s.pool.Put(one)
	one.mac.Reset()
	one.mac.Write(body)
	hex.Encode(one.text[:], one.mac.Sum(one.sum[:0]))
	return string(one.text[:])
}
