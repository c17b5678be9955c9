package wsseal

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"

	"github.com/anabranch/anabranch/internal/keyring"
	"github.com/anabranch/anabranch/schemas"
)

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

// Parse reads a list of keys as [keyring.Parse] does. It returns nil for an empty text.
// The error shows no key.
func Parse(text schemas.Secret) (*Ring, error) {
	keys, err := keyring.Parse(text)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	r := new(Ring)
	for _, k := range keys {
		aead, err := sealer(k)
		if err != nil {
			return nil, err
		}
		r.keys = append(r.keys, key{k.ID, aead})
	}
	return r, nil
}

func sealer(k keyring.Key) (cipher.AEAD, error) {
	secret, err := k.Derive("workspace secrets")
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
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
