package docstest

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
)

// What follows up to the next mark is the sample of docs/delivery.md (TestTheGoSampleIsTheTestedOne).
// sample:begin

// valid reports whether a body, as received, was signed with the secret.
func valid(body []byte, signature, secret string) bool {
	mac := hmac.New(sha1.New, []byte(secret))
	mac.Write(body)
	got, err := hex.DecodeString(signature)
	return err == nil && hmac.Equal(got, mac.Sum(nil))
}

// receive answers deliveries that are signed with the secret.
func receive(secret string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil || !valid(body, r.Header.Get("X-Signature"), secret) {
			http.Error(w, "the signature does not match", http.StatusUnauthorized)
			return
		}
		fmt.Printf("%s\n", body)
	}
}

// sample:end

// A receiver answers 401 to what was not signed with its secret.
func Example_receive() {
	const body = `{"version":1,"type":"track","userId":"u1","event":"Signed Up"}`
	handler := receive("example-secret")
	for _, signature := range []string{"7e60cf9ddd44cea35e2acdc28c53b7e6fcc4bf03", "no signature"} {
		request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		request.Header.Set("X-Signature", signature)
		answer := httptest.NewRecorder()
		handler(answer, request)
		fmt.Println(answer.Code)
	}
	// Output:
	// {"version":1,"type":"track","userId":"u1","event":"Signed Up"}
	// 200
	// 401
}
