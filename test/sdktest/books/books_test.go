package books_test

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/test/sdktest/books"
)

func deliver(tb testing.TB, url, body, signature string) {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("X-Signature", signature)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		tb.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		tb.Errorf("answered %d", resp.StatusCode)
	}
}

func TestDeliveriesAreKeptByDestination(t *testing.T) {
	const secret = "s3cret"
	b := books.Open(secret)
	defer b.Close()
	mac := hmac.New(sha1.New, []byte(secret))
	io.WriteString(mac, `{"n":1}`)
	good := hex.EncodeToString(mac.Sum(nil))

	deliver(t, b.URL+"/crm", `{"n":1}`, good)
	deliver(t, b.URL+"/crm", `{"n":2}`, good)
	deliver(t, b.URL+"/crm", `{"n":1}`, strings.ToUpper(good))
	deliver(t, b.URL+"/other", `{"n":1}`, "")

	crm := b.Deliveries("crm")
	if len(crm) != 3 || string(crm[0].Body) != `{"n":1}` || string(crm[1].Body) != `{"n":2}` {
		t.Fatalf("crm got %+v", crm)
	}
	for i, want := range []bool{true, false, false} {
		if crm[i].Signed != want {
			t.Errorf("delivery %d: signed is %t, expected %t", i, crm[i].Signed, want)
		}
	}
	if other := b.Deliveries("other"); len(other) != 1 || other[0].Signed {
		t.Errorf("other got %+v", other)
	}
	if none := b.Deliveries("none"); len(none) != 0 {
		t.Errorf("none got %+v", none)
	}
}
