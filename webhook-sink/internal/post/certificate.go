package post

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	_ "crypto/md5" //nolint:gosec // to recognize certificates by, not to trust them
	"crypto/rsa"
	_ "crypto/sha1" //nolint:gosec // the same
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
)

// errSelfSigned refuses a self-signed certificate that verified because it is
// in the root pool: spec.md, Transport, allows none whoever vouches for it.
var errSelfSigned = errors.New("certificate is self-signed")

// selfSigned reports whether a certificate vouches for itself: its own key made its
// signature, under whatever name. Names alone prove nothing: an authority may give a
// certificate to a server of its own name. They count where nobody can verify.
//
// Signatures over SHA-1 and MD5, which CheckSignature refuses unseen, are verified
// too: to take one for its own proof is no trust in it.
func selfSigned(leaf *x509.Certificate) bool {
	var hash crypto.Hash
	switch leaf.SignatureAlgorithm {
	case x509.UnknownSignatureAlgorithm, x509.MD2WithRSA, x509.DSAWithSHA1, x509.DSAWithSHA256:
		return bytes.Equal(leaf.RawIssuer, leaf.RawSubject)
	case x509.SHA1WithRSA, x509.ECDSAWithSHA1:
		hash = crypto.SHA1
	case x509.MD5WithRSA:
		hash = crypto.MD5
	default:
		return leaf.CheckSignature(leaf.SignatureAlgorithm, leaf.RawTBSCertificate, leaf.Signature) == nil
	}
	digest := hash.New()
	digest.Write(leaf.RawTBSCertificate)
	switch key := leaf.PublicKey.(type) {
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(key, hash, digest.Sum(nil), leaf.Signature) == nil
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(key, digest.Sum(nil), leaf.Signature)
	default:
		return false
	}
}

// weaklySigned reports whether a certificate is signed over a hash that can be forged.
func weaklySigned(leaf *x509.Certificate) bool {
	switch leaf.SignatureAlgorithm {
	case x509.SHA1WithRSA, x509.ECDSAWithSHA1, x509.DSAWithSHA1, x509.MD5WithRSA, x509.MD2WithRSA:
		return true
	default:
		return false
	}
}

// refuseSelfSigned is the tls.Config.VerifyConnection of all connections. Unlike
// VerifyPeerCertificate it also runs when a session is resumed.
func refuseSelfSigned(state tls.ConnectionState) error {
	if len(state.PeerCertificates) > 0 && selfSigned(state.PeerCertificates[0]) {
		return errSelfSigned
	}
	return nil
}

// LoadRoots returns the system's roots with the certificates of a PEM file added.
// A file without a certificate is an error, and so is one that holds an
// unreadable certificate among good ones: half of a trust store is a surprise
// that shows months later.
func LoadRoots(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("read roots: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // an image without roots of its own: the file's are all there are
	}
	count := 0
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		count++
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("parse certificate %d of %s: %w", count, file, err)
		}
		roots.AddCert(certificate)
	}
	if count == 0 {
		return nil, fmt.Errorf("find a PEM certificate in %s: there is none", file)
	}
	return roots, nil
}
