package wsseal

import (
	"crypto/aes"
	"crypto/cipher"
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

// KeyBytes is the length of a key.
const KeyBytes = 32

// maxKeys is more than a rotation ever needs.
const maxKeys = 16

// Ring are the keys of SECRETS_KEY: the first one seals, all of them open. A nil Ring
// has none. It may be used by many goroutines.
type Ring struct{ keys []key }

type key struct {
	id   string
	aead cipher.AEAD
}

// Format writes how many keys there are, for every verb.
func (r *Ring) Format(f fmt.State, _ rune) {
	n := 0
	if r != nil {
		n = len(r.keys)
	}
	_, _ = fmt.Fprintf(f, "%d keys", n)
}

// Parse reads a list of keys, separated by commas, spaces or ends of lines: each 32 bytes
// in base64 or as 64 hexadecimal digits. It returns nil for an empty text. The error
// shows no key.
func Parse(text schemas.Secret) (*Ring, error) {
	words := strings.FieldsFunc(text.Reveal(), func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' })
	if len(words) == 0 {
		return nil, nil
	}
	if len(words) > maxKeys {
		return nil, fmt.Errorf("%d keys: expected at most %d", len(words), maxKeys)
	}
	r := new(Ring)
	for i, word := range words {
		k, err := parseKey(word)
		if err != nil {
			return nil, fmt.Errorf("key %d of %d: %w", i+1, len(words), err)
		}
		if slices.ContainsFunc(r.keys, func(other key) bool { return other.id == k.id }) {
			return nil, fmt.Errorf("key %d of %d is there twice", i+1, len(words))
		}
		r.keys = append(r.keys, k)
	}
	return r, nil
}

func parseKey(word string) (key, error) {
	raw, err := hex.DecodeString(word)
	if err != nil {
		// With or without padding, in the alphabet of URLs too.
		plain := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(word, "="))
		raw, err = base64.RawStdEncoding.DecodeString(plain)
	}
	switch {
	case err != nil:
		return key{}, errors.New("expected 32 bytes in base64 or as 64 hexadecimal digits: `openssl rand -base64 32` makes a key")
	case len(raw) != KeyBytes:
		return key{}, fmt.Errorf("expected 32 bytes in base64 or as 64 hexadecimal digits, found %d bytes: `openssl rand -base64 32` makes a key", len(raw))
	case slices.Equal(raw, make([]byte, KeyBytes)):
		return key{}, errors.New("expected a random key, found zeros: `openssl rand -base64 32` makes one")
	}
	return newKey(raw)
}

// newKey derives what seals from a key, so that the key itself may have other uses, and
// its id, which tells nothing of it.
func newKey(raw []byte) (key, error) {
	secret, err := hkdf.Key(sha256.New, raw, nil, "anabranch workspace secrets", KeyBytes)
	if err != nil {
		return key{}, err
	}
	id, err := hkdf.Key(sha256.New, raw, nil, "anabranch key id", idBytes)
	if err != nil {
		return key{}, err
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return key{}, err
	}
	aead, err := cipher.NewGCM(block)
	return key{hex.EncodeToString(id), aead}, err
}

// Current is the id of the key that seals; empty without keys.
func (r *Ring) Current() string {
	if r == nil {
		return ""
	}
	return r.keys[0].id
}

func (r *Ring) key(id string) (key, bool) {
	if r != nil {
		for _, k := range r.keys {
			if k.id == id {
				return k, true
			}
		}
	}
	return key{}, false
}
