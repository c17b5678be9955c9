package workspace

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/anabranch/anabranch/internal/workspace/internal/kind"
	"github.com/anabranch/anabranch/internal/workspace/internal/rules"
	"github.com/anabranch/anabranch/schemas"
)

// MaxEndpoints is the number of endpoints a destination may have at most
// (spec.md, Limits).
const MaxEndpoints = 5

// MaxWriteKeyBytes is the length that a write key may have at most.
const MaxWriteKeyBytes = rules.MaxWriteKeyBytes

// Document is a workspace as it is written down: a list for each kind of thing
// that it holds. The tags of the types in it are its whole declaration, which
// package kind explains.
type Document struct {
	Sources      []Source      `file:"sources" kind:"source" each:"a source" desc:"where calls come from"`
	Destinations []Destination `file:"destinations" kind:"destination" each:"a destination" desc:"where calls go to"`
	Audiences    []Audience    `file:"audiences,optional" kind:"audience" each:"an audience" desc:"sets of users, of which each entry and exit is told"`
	Traits       []Trait       `file:"traits,optional" kind:"trait" each:"a computed trait" desc:"values computed for each user, which are told when they change"`
	Identity     *Identities   `file:"identity,optional" kind:"identity" desc:"what is taken for one user"`

	// Pauses are of destinations, by id. No file has any: see [Pause].
	Pauses map[string]Pause
}

// Declaration returns what the tags of [Document] declare.
func Declaration() *kind.Shape { return declaration() }

var declaration = sync.OnceValue(func() *kind.Shape { return kind.Of(reflect.TypeFor[Document]()) })

// Source is one origin of calls: a web site, an app, a server.
type Source struct {
	ID           string        `file:"id" record:"-" rule:"sourceID" unique:"an id" desc:"its permanent identifier"`
	Name         string        `file:"name" else:"id" rule:"name" desc:"what people call it"`
	WriteKeyHash KeyHash       `file:"writeKey" record:"writeKeySHA256" rule:"writeKey" unique:"a write key" desc:"identifies its calls; only a hash of it is stored"`
	Enabled      bool          `file:"enabled" default:"true" absent:"false" desc:"whether its calls are accepted"` // when not, ingest does not know the write key
	Identity     *Identity     `file:"identity,optional" desc:"what tells its users apart"`
	Plan         *TrackingPlan `file:"trackingPlan,optional" want:"a tracking plan: action, events, identify, group, page, screen" desc:"what its calls may contain; without one every valid call is accepted"`
}

// Identity is what tells the users of a source apart. It is shared by all who hold
// the source and must not be changed.
type Identity struct {
	Blocked []string `file:"blocked,optional" rule:"name" unique:"an id" items:"0-100" each:"an id" want:"a list of ids" desc:"ids that stand for nobody, in any case, beside null, undefined, none, nan, anonymous, true, false, -1, [object Object], zeros and blanks: as user ids they are delivered, and not taken for one user"`
}

// KeyHash is the SHA-256 of a write key.
type KeyHash [sha256.Size]byte //nolint:recvcheck // it is written as a value and read through a pointer

// HashSecret makes it the hash of a write key.
func (h *KeyHash) HashSecret(writeKey string) { *h = HashWriteKey(writeKey) }

// MarshalText returns 64 hexadecimal digits.
func (h KeyHash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText is the inverse of MarshalText.
func (h *KeyHash) UnmarshalText(text []byte) error {
	hash, err := hex.DecodeString(string(text))
	if err != nil || len(hash) != len(h) {
		return errors.New("64 hexadecimal digits")
	}
	copy(h[:], hash)
	return nil
}

// HashWriteKey returns what [Source.WriteKeyHash] holds for a write key.
func HashWriteKey(writeKey string) [32]byte {
	var room [MaxWriteKeyBytes]byte // on the stack, for every key that a source may have
	return sha256.Sum256(append(room[:0], writeKey...))
}

// Destination is one receiver of calls. Those handed out by a [Snapshot] are
// shared by all who read it and must not be changed.
type Destination struct {
	ID           string         `file:"id" record:"-" rule:"id" unique:"an id" desc:"its permanent identifier; its topic is deliver.<id>, deliver.export.<id> or deliver.archive.<id>, by its type"`
	Type         string         `file:"type" default:"webhooks" enum:"webhooks topic archive" desc:"how it receives calls: webhooks, by HTTP; topic, a topic for others to read; archive, files in a directory or a bucket. Integrations maps call it Webhooks, Topic or Archive"`
	Name         string         `file:"name" else:"id" rule:"name" desc:"what people call it"`
	Sources      []string       `file:"sources" ref:"sources" beside:"personas" unique:"an entry" want:"a list of ids of sources" desc:"whose calls it receives; personas is the built-in source that tells of audiences and traits"` // in a snapshot ascending
	Enabled      bool           `file:"enabled" default:"true" absent:"false" desc:"whether it receives calls"`
	SharedSecret schemas.Secret `file:"sharedSecret,optional" only:"type=webhooks" rule:"secret" desc:"what deliveries are signed with; without it they are not signed"`
	Endpoints    []Endpoint     `file:"endpoints" only:"type=webhooks" items:"1-5" each:"an endpoint" desc:"where its calls are delivered to, each call to all of them"` // at most MaxEndpoints
	Export       *Export        `file:"topic,optional" only:"type=topic" want:"a mapping with the keys name, partitions and retention" desc:"the topic that it receives its calls in"`
	Archive      *Archive       `file:"archive" only:"type=archive" want:"a mapping with the key directory or bucket" desc:"where its calls are kept"`
	// Of imported calls, which say when they happened (schemas.Headers.Happened).
	Historical      Historical    `file:"historical,optional" enum:"accept refuse" desc:"whether it receives imported calls that happened long before their import: accept, which is usual, or refuse, which leaves them out"`
	HistoricalAfter time.Duration `file:"historicalAfter,optional" min:"1s" max:"87600h" desc:"with historical: refuse, how long before its import a call has to have happened to be left out; usually 24h"`
}

// Historical says whether a destination receives calls of the past. The zero value
// accepts them.
type Historical string

// HistoricalRefuse leaves out what happened too long ago.
const HistoricalRefuse Historical = "refuse"

const usualHistory = 24 * time.Hour

// Receives reports whether the destination receives a call that happened so long before
// it was taken in.
func (d *Destination) Receives(age time.Duration) bool {
	return d.Historical != HistoricalRefuse || age <= cmp.Or(d.HistoricalAfter, usualHistory)
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
	URL     string   `file:"url" rule:"url" unique:"a URL" desc:"absolute, without a fragment"`
	Headers []Header `file:"headers,optional,mapping" items:"0-20" want:"a mapping of header names to values" desc:"sent with each delivery to it"` // in the order they were written
}

// Header is one static header. Name is a valid RFC 9110 field name.
type Header struct {
	Name  string         `file:"name" rule:"headerName" unique:"a name (in any case),fold" desc:"must not be one that deliveries or connections set themselves"`
	Value schemas.Secret `file:"value" rule:"headerValue" desc:"value of the header"` // people put tokens here
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
