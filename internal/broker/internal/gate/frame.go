package gate

import (
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// headBytes are those of a request that say how long it is, of which kind and of which version.
	headBytes = 4 + 2 + 2
	// leastBytes is what follows the size at least: kind, version and correlation id.
	leastBytes = 2 + 2 + 4
	// mostBytes is the usual limit of brokers, and what the client's batches stay below.
	mostBytes = 100 << 20
	// mostStrangerBytes is far above what versions and an authentication take.
	mostStrangerBytes = 4 << 10
)

// A head is how a request begins.
type head struct {
	size         uint32 // of what follows it
	key, version int16
}

func parseHead(b [headBytes]byte) head {
	return head{
		size:    binary.BigEndian.Uint32(b[:4]),
		key:     int16(binary.BigEndian.Uint16(b[4:6])),
		version: int16(binary.BigEndian.Uint16(b[6:8])),
	}
}

// checkSize returns why a request of that size is refused.
func (h head) checkSize(authenticated bool) error {
	most := uint32(mostStrangerBytes)
	if authenticated {
		most = mostBytes
	}
	if h.size < leastBytes || h.size > most {
		return fmt.Errorf("a request of %d bytes: expected %d to %d", h.size, leastBytes, most)
	}
	return nil
}

// checkKind returns why a request of that kind and version is refused.
func (h head) checkKind(authenticated bool) error {
	request := kmsg.RequestForKey(h.key)
	switch {
	case request == nil:
		return fmt.Errorf("unknown kind of request %d", h.key)
	case !authenticated && !forStrangers(kmsg.Key(h.key)):
		return fmt.Errorf("%s before authentication", kmsg.NameForKey(h.key))
	case h.version < 0 || h.version > request.MaxVersion() && kmsg.Key(h.key) != kmsg.ApiVersions:
		// To a version of ApiVersions that it does not know a broker answers with those that it does.
		return fmt.Errorf("%s of version %d: expected 0 to %d", kmsg.NameForKey(h.key), h.version, request.MaxVersion())
	}
	return nil
}

// forStrangers tells whether a request may come before an authentication.
func forStrangers(key kmsg.Key) bool {
	return key == kmsg.ApiVersions || key == kmsg.SASLHandshake || key == kmsg.SASLAuthenticate
}

// checkStranger returns why a whole request, without its size, is refused before authentication: there are no tagged
// fields that any client would send there.
func (h head) checkStranger(body []byte) error {
	request := kmsg.RequestForKey(h.key)
	request.SetVersion(h.version)
	r := kbin.Reader{Src: body[leastBytes:]}
	r.NullableString() // the client's id
	tags := uint32(0)
	if request.IsFlexible() {
		tags = r.Uvarint()
		h.skip(&r)
		tags |= r.Uvarint()
	} else {
		h.skip(&r)
	}
	if err := r.Complete(); err != nil {
		return fmt.Errorf("%s: %w", kmsg.NameForKey(h.key), err)
	}
	if tags != 0 {
		return fmt.Errorf("%s with tagged fields", kmsg.NameForKey(h.key))
	}
	return nil
}

// skip reads over the fields of a request, by the protocol's definition of it.
func (h head) skip(r *kbin.Reader) {
	switch key := kmsg.Key(h.key); {
	case key == kmsg.SASLHandshake:
		_ = r.String()
	case key == kmsg.SASLAuthenticate && h.version < 2:
		r.Bytes()
	case key == kmsg.SASLAuthenticate:
		r.CompactBytes()
	case key == kmsg.ApiVersions && h.version >= 3:
		r.CompactString()
		r.CompactString()
		if h.version >= 5 {
			r.CompactNullableString()
			r.Int32()
		}
	}
}
