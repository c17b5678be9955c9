package post

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// x509 refuses to verify signatures over SHA-1, which made such a certificate look
// like one of an unknown authority.
func TestWeaklySelfSignedCertificates(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	otherKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		algorithm x509.SignatureAlgorithm
		key       crypto.Signer
	}{
		"ECDSA": {x509.ECDSAWithSHA1, newKey(t)},
		"RSA":   {x509.SHA1WithRSA, rsaKey},
	} {
		leaf := weakLeaf(t, test.algorithm, test.key)
		if !selfSigned(leaf) {
			t.Errorf("%s: not found out", name)
		}
		server, handled := tlsServer(t, &tls.Config{Certificates: []tls.Certificate{{
			Certificate: [][]byte{leaf.Raw}, PrivateKey: test.key, Leaf: leaf,
		}}})
		client := newClient(t, Options{Dial: dialTo(server), Roots: pool(newAuthority(t, "Trusted").cert)})
		got := client.Post(t.Context(), newTarget(t, tlsURL), []byte("{}"), "")
		want := outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonSelfSigned, Detail: detailSelfSigned}
		if !cmp.Equal(got, want) || handled.Load() > 0 {
			t.Errorf("%s: %+v, want %+v; %d requests", name, got, want, handled.Load())
		}
		// Another key's signature is none of its own.
		broken := *leaf
		broken.PublicKey = otherKey.Public()
		if name == "RSA" && selfSigned(&broken) {
			t.Errorf("%s: signed by another key, and taken for its own", name)
		}
		broken.PublicKey = newKey(t).Public()
		if name == "ECDSA" && selfSigned(&broken) {
			t.Errorf("%s: signed by another key, and taken for its own", name)
		}
	}
}
