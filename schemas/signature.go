package schemas

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // spec.md, Signing of webhook deliveries, asks for HMAC-SHA1
	"encoding/hex"
)

// SignatureHeader is the header of a delivery that holds its signature.
const SignatureHeader = "X-Signature"

// Sign returns the signature of a delivery: the lower-case hexadecimal HMAC-SHA1 of
// its body's bytes under the shared secret. Rule: spec.md, Signing of webhook
// deliveries.
func Sign(secret Secret, body []byte) string {
	mac := hmac.New(sha1.New, []byte(secret))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// Verify reports whether signature, the value of [SignatureHeader], is that of a
// delivery's body under the shared secret. It is for receivers: hand it the body's
// bytes as they came, before any JSON library has touched them, and refuse what it does
// not approve. It takes the same time for every wrong signature of the right length. An
// empty secret verifies nothing, since deliveries without a secret are not signed.
func Verify(secret Secret, body []byte, signature string) bool {
	return secret != "" && hmac.Equal([]byte(signature), []byte(Sign(secret, body)))
}
