package wsseal

import (
	"encoding/base64"
	"encoding/hex"
	"strings"

	"github.com/anabranch/anabranch/internal/keyring"
	"github.com/anabranch/anabranch/schemas"
)

const (
	nonceBytes = 12
	tagBytes   = 16

	algorithm = "aes256gcm"
)

// sealed is an encrypted secret.
type sealed struct {
	key  string // its id
	data []byte // nonce, ciphertext, tag
}

// encoding is strict: no two texts are one sealed secret.
var encoding = base64.RawURLEncoding.Strict()

// String returns the text that stands in a record: aes256gcm.<key id>.<base64>.
func (s sealed) String() string {
	return algorithm + "." + s.key + "." + encoding.EncodeToString(s.data)
}

// parse is the inverse of String.
func parse(text string) (sealed, bool) {
	name, rest, _ := strings.Cut(text, ".")
	id, data, _ := strings.Cut(rest, ".")
	raw, err := hex.DecodeString(id)
	if name != algorithm || err != nil || len(raw) != keyring.IDBytes || hex.EncodeToString(raw) != id || strings.ContainsAny(data, "\r\n") {
		return sealed{}, false
	}
	decoded, err := encoding.DecodeString(data)
	// What is sealed is never empty.
	if err != nil || len(decoded) <= nonceBytes+tagBytes {
		return sealed{}, false
	}
	return sealed{id, decoded}, true
}

// KeyOf returns the id of the key that a secret is sealed with; empty for one that is in
// the clear. One that is damaged has the id "unknown".
func KeyOf(s schemas.Secret) string {
	form, is := s.Sealed()
	if !is {
		return ""
	}
	parsed, ok := parse(form)
	if !ok {
		return "unknown"
	}
	return parsed.key
}
