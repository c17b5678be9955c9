package writekey

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
)

func TestBasic(t *testing.T) {
	encode := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, c := range []struct {
		header, key string
		given       bool
	}{
		{"", "", false},
		{"Basic", "", false},
		{"Bearer " + encode("k:"), "", false},
		{"Basic " + encode(":"), "", false},
		{"Basic " + encode(":password"), "", false},
		{"Basic " + encode("k:"), "k", true},
		{"basic " + encode("k:"), "k", true},
		{"BASIC   " + encode("k:") + " ", "k", true},
		{"Basic " + encode("k:a:b"), "k", true},
		{"Basic " + encode("k"), "k", true},
		{"Basic " + encode(""), "", true},
		{"Basic ", "", true},
		{"Basic !!", "", true},
		{"Basic " + encode("k:") + "x", "", true},
		{"Basic " + strings.TrimRight(encode("key:"), "="), "", true},
	} {
		if key, given := Basic(c.header); key != c.key || given != c.given {
			t.Errorf("%q: got %q %v, want %q %v", c.header, key, given, c.key, c.given)
		}
	}
}

// FuzzBasic holds the reader against net/http's, which does not tell an
// unreadable header from one that is not there.
func FuzzBasic(f *testing.F) {
	for _, seed := range []string{"", "Basic a2V5Og==", "basic Og==", "Basic !", "Bearer x", "Basic  a2V5Og==", "Basic a2V5"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		key, given := Basic(header)
		if key != "" && !given {
			t.Fatalf("%q: key %q but not given", header, key)
		}
		r := &http.Request{Header: http.Header{"Authorization": {header}}}
		if user, _, ok := r.BasicAuth(); ok && user != key {
			t.Fatalf("%q: got %q, net/http has %q", header, key, user)
		}
	})
}
