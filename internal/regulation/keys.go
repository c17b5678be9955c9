package regulation

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"slices"
	"strings"
	"sync"

	"github.com/anabranch/anabranch/internal/keyring"
	"github.com/anabranch/anabranch/schemas"
)

// Keys are those of SUPPRESSION_KEY: users are suppressed under the first one, and
// recognised under all of them. Nil: there is none.
type Keys struct{ keys []*hashKey }

// hashKey hashes user ids with HMAC-SHA256.
type hashKey struct {
	id   string
	macs sync.Pool // of *mac
}

type mac struct {
	hash.Hash

	sum [sha256.Size]byte
}

// ParseKeys reads a list of keys as [keyring.Parse] does. It returns nil for an empty text.
// The error shows no key.
func ParseKeys(text schemas.Secret) (*Keys, error) {
	keys, err := keyring.Parse(text)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	all := new(Keys)
	for _, k := range keys {
		secret, err := k.Derive("suppressed users")
		if err != nil {
			return nil, err
		}
		h := &hashKey{id: k.ID}
		h.macs.New = func() any { return &mac{Hash: hmac.New(sha256.New, secret)} }
		all.keys = append(all.keys, h)
	}
	return all, nil
}

// IDs returns those of the keys, the current one first.
func (k *Keys) IDs() (ids []string) {
	if k != nil {
		for _, h := range k.keys {
			ids = append(ids, h.id)
		}
	}
	return ids
}

// hash returns the first half of the HMAC-SHA256 of a user id. It allocates nothing.
func (k *hashKey) hash(userID []byte) userHash {
	m, _ := k.macs.Get().(*mac)
	defer k.macs.Put(m)
	m.Reset()
	_, _ = m.Write(userID)
	return userHash(m.Sum(m.sum[:0]))
}

// alias is what stands for a user in a record: a hash, and the id of the key that it was
// made with; empty: it was made without one.
type alias struct {
	key  string
	hash userHash
}

// String returns <key id>.<hash>, or the hash alone.
func (a alias) String() string {
	if a.key == "" {
		return a.hash.String()
	}
	return a.key + "." + a.hash.String()
}

// parseAlias is the inverse of String.
func parseAlias(text string) (a alias, ok bool) {
	key, rest, keyed := strings.Cut(text, ".")
	if !keyed {
		a.hash, ok = parseHash(text)
		return a, ok
	}
	raw, err := hex.DecodeString(key)
	a.key = key
	a.hash, ok = parseHash(rest)
	return a, ok && err == nil && len(raw) == keyring.IDBytes && hex.EncodeToString(raw) == key
}

// passed are aliases of suppressed users that were seen, of keys that are current no
// longer, each with the one that it is to become. The zero value is empty.
type passed struct {
	mu   sync.Mutex
	seen map[alias]alias
}

// maxPassed bounds what is noted and written at a time; who is left out passes by again.
const maxPassed = 1000

func (p *passed) note(old, current alias) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen == nil {
		p.seen = make(map[alias]alias)
	}
	if len(p.seen) < maxPassed {
		p.seen[old] = current
	}
}

// take returns what was noted, and forgets it.
func (p *passed) take() map[alias]alias {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen
	p.seen = nil
	return seen
}

// missing are users who are suppressed under keys that this process lacks. The zero
// value is empty.
type missing struct {
	mu    sync.Mutex
	byKey map[string]*users
	// say is told of a key, once.
	say  func(key string)
	said map[string]bool
}

func (m *missing) of(key string) *users {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byKey == nil {
		m.byKey = make(map[string]*users)
	}
	if m.byKey[key] == nil {
		m.byKey[key] = new(users)
	}
	return m.byKey[key]
}

// keys returns the ids of the keys that users are suppressed under, in order.
func (m *missing) keys() (ids []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, users := range m.byKey {
		if users.len() > 0 {
			ids = append(ids, key)
		}
	}
	slices.Sort(ids)
	return ids
}

// tell says what keys are missing, each once.
func (m *missing) tell() {
	if m.say == nil {
		return
	}
	for _, key := range m.keys() {
		m.mu.Lock()
		known := m.said[key]
		if m.said == nil {
			m.said = make(map[string]bool)
		}
		m.said[key] = true
		m.mu.Unlock()
		if !known {
			m.say(key)
		}
	}
}
