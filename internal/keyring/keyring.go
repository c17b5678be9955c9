package keyring

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/anabranch/anabranch/schemas"
)

// KeyBytes is the length of a key, and of what is derived from it.
const KeyBytes = 32

// IDBytes is the length of a key's id.
const IDBytes = 4

// maxKeys is more than a rotation ever needs.
const maxKeys = 16

// Key is one key of a list.
type Key struct {
	// ID is eight hexadecimal digits, which tell nothing of the key.
	ID  string
	raw []byte
}

// Format writes the id alone, for every verb.
func (k Key) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, "key ", k.ID) }

// Derive returns the 32 bytes that one use of the key works with.
func (k Key) Derive(use string) ([]byte, error) {
	return hkdf.Key(sha256.New, k.raw, nil, "anabranch "+use, KeyBytes)
}

// Parse reads a list of keys, separated by commas, spaces or ends of lines: each 32 bytes
// in base64 or as 64 hexadecimal digits. It returns nil for an empty text. The error
// shows no key.
func Parse(text schemas.Secret) ([]Key, error) {
	words := strings.FieldsFunc(text.Reveal(), func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' })
	if len(words) > maxKeys {
		return nil, fmt.Errorf("%d keys: expected at most %d", len(words), maxKeys)
	}
	var keys []Key
	for i, word := range words {
		k, err := parseKey(word)
		if err != nil {
			return nil, fmt.Errorf("key %d of %d: %w", i+1, len(words), err)
		}
		if slices.ContainsFunc(keys, func(other Key) bool { return other.ID == k.ID }) {
			return nil, fmt.Errorf("key %d of %d is there twice", i+1, len(words))
		}
		keys = append(keys, k)
	}
	return keys, nil
}

func parseKey(word string) (Key, error) {
	raw, err := hex.DecodeString(word)
	if err != nil {
		// With or without padding, in the alphabet of URLs too.
		plain := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(word, "="))
		raw, err = base64.RawStdEncoding.DecodeString(plain)
	}
	switch {
	case err != nil:
		return Key{}, errors.New("expected 32 bytes in base64 or as 64 hexadecimal digits: `openssl rand -base64 32` makes a key")
	case len(raw) != KeyBytes:
		return Key{}, fmt.Errorf("expected 32 bytes in base64 or as 64 hexadecimal digits, found %d bytes: `openssl rand -base64 32` makes a key", len(raw))
	case slices.Equal(raw, make([]byte, KeyBytes)):
		return Key{}, errors.New("expected a random key, found zeros: `openssl rand -base64 32` makes one")
	}
	id, err := hkdf.Key(sha256.New, raw, nil, "anabranch key id", IDBytes)
	return Key{hex.EncodeToString(id), raw}, err
}
