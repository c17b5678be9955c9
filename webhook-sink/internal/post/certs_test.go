package post

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"
)

// hookHost is the name that test certificates are for.
const hookHost = "hooks.example.com"

// authority is a certificate authority.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newKey(tb testing.TB) *ecdsa.PrivateKey {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

// template is valid from before synctest's year 2000 on.
func template(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:     time.Date(2199, 1, 1, 0, 0, 0, 0, time.UTC),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
}

func newAuthority(tb testing.TB, name string) *authority {
	tb.Helper()
	key, root := newKey(tb), template(name)
	root.IsCA, root.BasicConstraintsValid, root.KeyUsage = true, true, x509.KeyUsageCertSign
	return &authority{cert: sign(tb, root, root, key, key), key: key}
}

// leaf issues a certificate for hookHost, changed by edit where that is not nil.
func (a *authority) leaf(tb testing.TB, edit func(*x509.Certificate)) tls.Certificate {
	tb.Helper()
	return pair(tb, a.cert, a.key, edit)
}

// selfSignedLeaf is a certificate for hookHost that nobody else vouches for.
func selfSignedLeaf(tb testing.TB, edit func(*x509.Certificate)) tls.Certificate {
	tb.Helper()
	return pair(tb, nil, nil, edit)
}

// pair makes a key and a certificate of it. Without an issuer the certificate is
// its own, without a signer its own key signs it.
func pair(tb testing.TB, issuer *x509.Certificate, signer *ecdsa.PrivateKey, edit func(*x509.Certificate)) tls.Certificate {
	tb.Helper()
	key, leaf := newKey(tb), template("leaf")
	leaf.DNSNames = []string{hookHost}
	if edit != nil {
		edit(leaf)
	}
	if issuer == nil {
		issuer = leaf
	}
	if signer == nil {
		signer = key
	}
	cert := sign(tb, leaf, issuer, key, signer)
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}
}

func sign(tb testing.TB, cert, issuer *x509.Certificate, key, signer *ecdsa.PrivateKey) *x509.Certificate {
	tb.Helper()
	der, err := x509.CreateCertificate(rand.Reader, cert, issuer, key.Public(), signer)
	if err != nil {
		tb.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	return parsed
}

func pool(certs ...*x509.Certificate) *x509.CertPool {
	roots := x509.NewCertPool()
	for _, cert := range certs {
		roots.AddCert(cert)
	}
	return roots
}

func pemOf(cert *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})
}

func expired(cert *x509.Certificate) {
	cert.NotAfter = time.Date(1999, 6, 1, 0, 0, 0, 0, time.UTC)
}

func otherHost(cert *x509.Certificate) { cert.DNSNames = []string{"www.example.com"} }

// weakLeaf is signed by its own key under another's name, over SHA-1 or what else
// nobody should trust any more.
func weakLeaf(tb testing.TB, algorithm x509.SignatureAlgorithm, key crypto.Signer) *x509.Certificate {
	tb.Helper()
	leaf := template("leaf")
	leaf.DNSNames = []string{hookHost}
	leaf.SignatureAlgorithm = algorithm
	der, err := x509.CreateCertificate(rand.Reader, leaf, template("Somebody Else"), key.Public(), key)
	if err != nil {
		tb.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	return cert
}
