package wsseal

import (
	"crypto/rand"
	"encoding/binary"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Open returns a snapshot with the secrets in the clear that the ring has the keys of.
// All others stay as they are: see [workspace.Destination.Sealed].
func (r *Ring) Open(s *workspace.Snapshot) *workspace.Snapshot {
	if r == nil {
		return s
	}
	return s.MapSecrets(r.open)
}

// Seal returns a snapshot with all secrets sealed under the first key. Those that were
// sealed under it before keep their form if they say the same. Without a key nothing is.
func (r *Ring) Seal(next, before *workspace.Snapshot) *workspace.Snapshot {
	if r == nil {
		return next
	}
	var id string
	var was map[workspace.Place]schemas.Secret // of the destination with the id
	return next.MapSecrets(func(at workspace.Place, secret schemas.Secret) schemas.Secret {
		if at.Destination != id {
			id, was = at.Destination, nil
			if d, ok := before.Destination(id); ok {
				was = d.Secrets()
			}
		}
		if old := was[at]; KeyOf(old) == r.Current() && r.open(at, old) == secret {
			return old
		}
		return r.seal(at, secret)
	})
}

func (r *Ring) seal(at workspace.Place, secret schemas.Secret) schemas.Secret {
	if _, is := secret.Sealed(); is {
		return secret
	}
	nonce := make([]byte, nonceBytes, nonceBytes+len(secret)+tagBytes)
	_, _ = rand.Read(nonce) // never fails
	k := r.keys[0]
	data := k.aead.Seal(nonce, nonce, []byte(secret.Reveal()), bound(at))
	return schemas.SealedSecret(sealed{k.id, data}.String())
}

// open returns a secret in the clear, or as it was if that can't be.
func (r *Ring) open(at workspace.Place, secret schemas.Secret) schemas.Secret {
	form, is := secret.Sealed()
	if !is {
		return secret
	}
	parsed, ok := parse(form)
	if !ok {
		return secret
	}
	k, known := r.key(parsed.key)
	if !known {
		return secret
	}
	text, err := k.aead.Open(nil, parsed.data[:nonceBytes], parsed.data[nonceBytes:], bound(at))
	if err != nil {
		return secret
	}
	return schemas.Secret(text)
}

// bound is what a sealed secret is bound to. Lengths keep two places from looking alike.
func bound(at workspace.Place) []byte {
	var all []byte
	for _, part := range []string{"secret of a destination", at.Destination, at.URL, at.Header} {
		all = binary.AppendUvarint(all, uint64(len(part)))
		all = append(all, part...)
	}
	return all
}
