package post

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/hex"
	"strings"
	"sync"
	"testing"

	"github.com/anabranch/anabranch/schemas"
)

// Values from RFC 2202 and from `openssl dgst -sha1 -hmac`.
func TestKnownSignatures(t *testing.T) {
	tests := []struct {
		secret schemas.Secret
		body   string
		want   string
	}{
		{"Jefe", "what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"},
		{schemas.Secret(strings.Repeat("\xaa", 80)), "Test Using Larger Than Block-Size Key - Hash Key First", "aa4ae5e15272d00e95705637ce8a3b55ed402112"},
		{"s3cret", `{"type":"delete","userId":"käthe"}`, "c6dcea7cfb8fa7012b4502bab15041cd25b45255"},
	}
	for _, test := range tests {
		signer := NewSigner(test.secret)
		for range 3 { // a signer that is used again must forget the body before
			if got := signer.Sign([]byte(test.body)); got != test.want {
				t.Errorf("%s: %s, want %s", test.body, got, test.want)
			}
		}
	}
}

func TestNoSecretNoSignature(t *testing.T) {
	if got := NewSigner("").Sign([]byte("{}")); got != "" {
		t.Errorf("signature %q without a secret", got)
	}
}

// Run with -race: hashes are pooled.
func TestSignerIsForManyGoroutines(t *testing.T) {
	signer := NewSigner("s3cret")
	var workers sync.WaitGroup
	for worker := range 4 {
		workers.Go(func() {
			body := []byte(strings.Repeat("x", 100*worker))
			mac := hmac.New(sha1.New, []byte("s3cret"))
			mac.Write(body)
			want := hex.EncodeToString(mac.Sum(nil))
			for range 500 {
				if got := signer.Sign(body); got != want {
					t.Errorf("signature %s, want %s", got, want)
					return
				}
			}
		})
	}
	workers.Wait()
}
