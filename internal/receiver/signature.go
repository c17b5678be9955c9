package receiver

import "github.com/anabranch/anabranch/schemas"

// verdict on the signature of a delivery.
type verdict string

const (
	signatureOK        verdict = "ok"
	signatureBad       verdict = "BAD"
	signatureNone      verdict = "none"        // neither a secret nor a signature
	signatureUnchecked verdict = "not checked" // a signature, but no secret to check it with
)

// signature is a verdict and, when it is bad, the reason.
type signature struct {
	verdict verdict
	reason  string
}

// checkSignature does what spec.md, Authentication, tells a receiver to do, on
// the body's bytes as they came: parsing them and writing them anew would hide a
// body that another receiver's JSON library would not sign alike.
func checkSignature(secret schemas.Secret, body []byte, header string) signature {
	switch {
	case secret == "" && header == "":
		return signature{verdict: signatureNone}
	case secret == "":
		return signature{verdict: signatureUnchecked}
	case header == "":
		return signature{signatureBad, "there is no " + schemas.SignatureHeader + " header"}
	case !schemas.Verify(secret, body, header):
		return signature{signatureBad, schemas.SignatureHeader + " is not the signature of this body under this secret"}
	}
	return signature{verdict: signatureOK}
}
