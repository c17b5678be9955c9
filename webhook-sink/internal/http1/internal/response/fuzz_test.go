package response

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// Where this package is stricter than net/http on purpose: see parse. Trailer is
// one field that net/http looks at and we don't.
var (
	otherVersion = regexp.MustCompile(`^HTTP/1\.[0-9] `)
	badStatus    = regexp.MustCompile(`^HTTP/1\.[0-9] +([-+]|0)`)
	folded       = regexp.MustCompile(`(?is)\n(connection|content-length|keep-alive|retry-after|transfer-encoding):[^\n]*\n[ \t]`)
	encoded      = regexp.MustCompile(`(?i)\ntransfer-encoding:`)
	measured     = regexp.MustCompile(`(?i)\ncontent-length:`)
	trailer      = regexp.MustCompile(`(?i)\ntrailer *:`)
)

func stricter(text string) bool {
	return !otherVersion.MatchString(text) || badStatus.MatchString(text) || folded.MatchString(text) ||
		encoded.MatchString(text) && measured.MatchString(text)
}

// FuzzHead compares with http.ReadResponse: what one takes the other takes, with
// the same meaning, but for where we are stricter.
func FuzzHead(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.0 503 No\r\nConnection: keep-alive\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: a, close\r\n\r\n",
		"HTTP/1.1 200 OK\nA: b\n c\n\n",
		"HTTP/1.1 204 \r\nX : \xff\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
		"HTTP/1.1  200\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		"HTTP/1.1 +20\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n", "\r\n\r\n", "HTTP/1.1 200 OK\r\n\tX: y\r\n\r\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		end := endOfHead([]byte(text), 0)
		if end == 0 || trailer.MatchString(text) {
			return
		}
		raw := text[:end]
		if strings.HasPrefix(raw, "\n") || strings.HasPrefix(raw, "\r\n") {
			return // an empty line first, after which we don't read on
		}
		got, err := parse([]byte(raw))
		want, wantErr := http.ReadResponse(bufio.NewReader(strings.NewReader(raw)), nil)
		if wantErr == nil {
			defer want.Body.Close()
		}
		if err == nil && wantErr != nil {
			t.Fatalf("%q: taken, while net/http says %v", raw, wantErr)
		}
		if err != nil {
			if wantErr == nil && !stricter(raw) {
				t.Fatalf("%q: %v, while net/http takes it", raw, err)
			}
			return
		}
		compare(t, raw, got, want)
	})
}

func compare(t *testing.T, raw string, got Head, want *http.Response) {
	t.Helper()
	length := want.ContentLength
	if got.Status != want.StatusCode || got.Length != length {
		t.Errorf("%q: status %d and length %d, want %d and %d", raw, got.Status, got.Length, want.StatusCode, length)
	}
	noBody := length == 0 || got.Length == 0
	if chunked := len(want.TransferEncoding) > 0; got.Chunked != chunked && !noBody {
		t.Errorf("%q: chunked %t, want %t", raw, got.Chunked, chunked)
	}
	// We may close what could be used again, never the other way round.
	if want.Close && !got.Close {
		t.Errorf("%q: kept, while net/http closes", raw)
	}
	// A value that was folded is refused above.
	if retryAfter := want.Header.Get("Retry-After"); got.RetryAfter != retryAfter {
		t.Errorf("%q: Retry-After %q, want %q", raw, got.RetryAfter, retryAfter)
	}
}

// FuzzReader looks for responses of which the reader makes something else when they
// come byte by byte, and for buffers that grow beyond their bound.
func FuzzReader(f *testing.F) {
	f.Add("HTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	f.Add("HTTP/1.1 200 OK\n\n\n\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		whole, single := NewReader(), NewReader()
		h1, err1 := whole.Next(strings.NewReader(text))
		one := &oneByOne{text}
		h2, err2 := single.Next(one)
		if h1 != h2 || !errors.Is(err1, err2) {
			t.Fatalf("%q: %+v, %v at once, %+v, %v byte by byte", text, h1, err1, h2, err2)
		}
		if err1 == nil {
			rest := whole.Rest()
			if tail := string(single.Rest()) + one.text; len(text) < firstRead && !bytes.Equal(rest, []byte(tail)) {
				t.Fatalf("%q: %q is left, %q byte by byte", text, rest, tail)
			}
		}
		if len(whole.buf) > 2*maxHead {
			t.Fatalf("%d bytes of buffer", len(whole.buf))
		}
	})
}

type oneByOne struct{ text string }

func (o *oneByOne) Read(p []byte) (int, error) {
	if o.text == "" {
		return 0, io.EOF
	}
	p[0], o.text = o.text[0], o.text[1:]
	return 1, nil
}
