package workspace

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/anabranch/anabranch/schemas"
)

// TypeWebhooks is the one type a destination may have.
const TypeWebhooks = "webhooks"

// MaxEndpoints is the number of endpoints a destination may have at most
// (spec.md, Limits).
const MaxEndpoints = 5

// MaxWriteKeyBytes is the length that a write key may have at most.
const MaxWriteKeyBytes = 256

// Source is one origin of calls: a web site, an app, a server.
type Source struct {
	ID           string        // as schemas.ValidID wants it; never changes
	Name         string        // for people
	WriteKeyHash [32]byte      // SHA-256 of the write key; see [HashWriteKey]
	Enabled      bool          // a disabled source's write key is unknown to ingest
	Plan         *TrackingPlan // nil: whatever is a valid call is taken in
}

// HashWriteKey returns what [Source.WriteKeyHash] holds for a write key.
func HashWriteKey(writeKey string) [32]byte {
	var room [MaxWriteKeyBytes]byte // on the stack, for every key that a source may have
	return sha256.Sum256(append(room[:0], writeKey...))
}

// Destination is one receiver of calls. Those handed out by a [Snapshot] are
// shared by all who read it and must not be changed.
type Destination struct {
	ID           string   // as schemas.ValidID wants it; its topic is schemas.DeliverTopic(ID)
	Type         string   // TypeWebhooks
	Name         string   // for people
	Sources      []string // ids of the connected sources, ascending
	Enabled      bool
	SharedSecret schemas.Secret // empty: deliveries are not signed
	Endpoints    []Endpoint     // one to MaxEndpoints
}

// IntegrationName returns the name that selects the destination in a call's
// integrations map, case sensitive (spec.md, What the service does, 3).
func (d *Destination) IntegrationName() string {
	if d.Type == TypeWebhooks {
		return "Webhooks"
	}
	return d.Type
}

// Connected reports whether the destination receives the calls of a source. It
// does not ask whether either is enabled; [Snapshot.Listeners] does.
func (d *Destination) Connected(sourceID string) bool {
	return slices.Contains(d.Sources, sourceID)
}

// Endpoint is one URL of a destination and the static headers sent with each
// delivery to it. Its URL may carry credentials: printed, logged or marshalled
// an Endpoint shows [Endpoint.SafeURL] and the names of its headers.
type Endpoint struct {
	URL     string   // absolute, http or https, no fragment
	Headers []Header // in the order they were written
}

// Header is one static header. Name is a valid RFC 9110 field name.
type Header struct {
	Name  string
	Value schemas.Secret // people put tokens here
}

// Fingerprint identifies the endpoint in the headers of a retry: it is a hash
// of the URL alone, the same in every process and version, so a record still
// finds its endpoint after headers were edited or the list was reordered.
func (e Endpoint) Fingerprint() uint64 {
	// A cryptographic hash, because the fingerprint is written to a topic that
	// may be read by more people than may know a token inside the URL.
	sum := sha256.Sum256([]byte(e.URL))
	return binary.BigEndian.Uint64(sum[:])
}
