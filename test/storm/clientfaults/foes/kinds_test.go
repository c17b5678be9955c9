package foes

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/schemas"
)

func byName(t *testing.T) map[string]kind {
	t.Helper()
	all := kinds("wk_test", 10)
	named := make(map[string]kind, len(all))
	for _, k := range all {
		named[k.name] = k
	}
	if len(all) != Kinds || len(named) != Kinds {
		t.Fatalf("%d kinds of %d names, expected %d", len(all), len(named), Kinds)
	}
	return named
}

func TestKinds(t *testing.T) {
	t.Parallel()
	all := byName(t)
	for _, k := range bodies() {
		all[k.name] = k
	}
	if len(all) != Kinds+Halves {
		t.Errorf("%d kinds, expected %d", len(all), Kinds+Halves)
	}
	for name, k := range all {
		if k.count < 1 || len(k.text) == 0 {
			t.Errorf("%s: nobody, or without a word", name)
		}
		if k.slow() != (k.bound > 0) || k.slow() == (len(k.answers) > 0) {
			t.Errorf("%s: a slow one has a bound and no answer, any other an answer and no bound", name)
		}
	}
}

// bodyOf parses a kind's text as a server does.
func bodyOf(t *testing.T, k *kind) (*http.Request, []byte) {
	t.Helper()
	head, body, found := bytes.Cut(k.text, []byte("\r\n\r\n"))
	if !found {
		t.Fatalf("%s: no end of the head", k.name)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(head), "\r\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			req.Header.Add(name, value)
		}
	}
	return req, body
}

// Who is turned away at the door does no harm: each of these has to get past the
// key and the length of its body.
func TestBodiesGetIn(t *testing.T) {
	t.Parallel()
	named := byName(t)
	for _, name := range []string{"bombs", "nests", "crowds", "keys"} {
		k := named[name]
		req, body := bodyOf(t, &k)
		if key, _, ok := req.BasicAuth(); !ok || key != "wk_test" {
			t.Errorf("%s: write key %q, %v", name, key, ok)
		}
		if len(body) > schemas.MaxBatchBytes || len(body) < schemas.MaxBatchBytes/2 {
			t.Errorf("%s: a body of %d bytes, expected a large one of at most %d", name, len(body), schemas.MaxBatchBytes)
		}
	}
	for _, name := range []string{"crowds", "keys"} {
		k := named[name]
		if _, body := bodyOf(t, &k); !json.Valid(body) {
			t.Errorf("%s: the body is no JSON", name)
		}
	}
}

// A body of a kilobyte has to hold numbers that take a parser long.
func TestNumbersAreMany(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"numbers", "numbers without a key"} {
		k := byName(t)[name]
		req, body := bodyOf(t, &k)
		if _, _, ok := req.BasicAuth(); ok == strings.Contains(name, "without") {
			t.Errorf("%s: a key: %v", name, ok)
		}
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil || len(body) > 2000 || bytes.Count(text, []byte("1e-310")) < 60_000 || len(text) > schemas.MaxBatchBytes {
			t.Errorf("%s: %d bytes, %v, of %d", name, len(text), err, len(body))
		}
	}
}

func TestBombGoesOff(t *testing.T) {
	t.Parallel()
	bombs := byName(t)["bombs"]
	req, body := bodyOf(t, &bombs)
	if coding := req.Header.Get("Content-Encoding"); coding != "gzip" {
		t.Errorf("Content-Encoding %q", coding)
	}
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, r)
	if err != nil || n != 300<<20 {
		t.Errorf("%d bytes come out, %v, expected 300 MiB", n, err)
	}
}
