package schemas_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/schemas"
)

// The signatures were made by another program:
// printf '%s' BODY | openssl dgst -sha1 -hmac SECRET.
func TestVerify(t *testing.T) {
	t.Parallel()
	const body, signature = `{"type":"track","event":"Grüße"}`, "e00f3256fe7c06c6716c04d7880e03e1b6918d06"
	for name, c := range map[string]struct {
		secret          schemas.Secret
		body, signature string
		want            bool
	}{
		"good":           {"example-secret", body, signature, true},
		"empty body":     {"k", "", "3a84a218ee6665209bb70e84525dd837645a1965", true},
		"other body":     {"example-secret", body + " ", signature, false},
		"other secret":   {"example-secreT", body, signature, false},
		"upper case":     {"example-secret", body, strings.ToUpper(signature), false},
		"cut":            {"example-secret", body, signature[:39], false},
		"no signature":   {"example-secret", body, "", false},
		"no secret":      {"", body, schemas.Sign("", []byte(body)), false},
		"nothing at all": {},
	} {
		if got := schemas.Verify(c.secret, []byte(c.body), c.signature); got != c.want {
			t.Errorf("%s: verified %t, expected %t", name, got, c.want)
		}
	}
}

func ExampleVerify() {
	receive := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, "the body did not arrive whole", http.StatusBadRequest)
			return
		}
		if !schemas.Verify("example-secret", body, r.Header.Get(schemas.SignatureHeader)) {
			http.Error(w, "the signature is wrong", http.StatusUnauthorized)
			return
		}
		// The body is a delivery, one of schemas.IdentifyDelivery and its like.
	}
	http.HandleFunc("/hooks/events", receive)
	fmt.Println(schemas.Verify("example-secret", []byte(`{"type":"track","event":"Grüße"}`), "e00f3256fe7c06c6716c04d7880e03e1b6918d06"))
	// Output: true
}
