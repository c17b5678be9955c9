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
	pool sync.Pool // of hash.Hash, keyed: a reset one costs two blocks of SHA-1 less than a new one
}

// NewSigner returns the Signer of a shared secret; nil when the secret is empty.
func NewSigner(secret schemas.Secret) *Signer {
	if secret == "" {
		return nil
	}
	key := []byte(secret.Reveal())
	return &Signer{pool: sync.Pool{New: func() any { return hmac.New(sha1.New, key) }}}
}

// Sign returns the lower-case hexadecimal HMAC-SHA1 of body; from a nil Signer,
// the empty string.
func (s *Signer) Sign(body []byte) string {
	if s == nil {
		return ""
	}
	mac, _ := s.pool.Get().(hash.Hash)
	defer s.pool.Put(mac)
	mac.Reset()
	mac.Write(body)
	var sum [sha1.Size]byte
	return hex.EncodeToString(mac.Sum(sum[:0]))
}
