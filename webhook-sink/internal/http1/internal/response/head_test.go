package response

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHeads(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	usual := func(edit func(*Head)) Head {
		h := Head{Status: 200, Length: 5, Idle: MaxIdle}
		edit(&h)
		return h
	}
	length := func(n int64) Head { return usual(func(h *Head) { h.Length = n }) }
	rest := func(idle time.Duration) Head { return usual(func(h *Head) { h.Idle = idle }) }
	ends := usual(func(h *Head) { h.Close = true })
	untilEnd := usual(func(h *Head) { h.Length, h.Close = Unknown, true })
	chunks := usual(func(h *Head) { h.Length, h.Chunked = Unknown, true })
	tests := map[string]Head{
		ok + "Content-Length: 5\r\n\r\n":                      length(5),
		ok + "content-LENGTH:5 \t\r\n\r\n":                    length(5),
		"HTTP/1.1 200 OK\nContent-Length: 5\n\n":              length(5),
		"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\n":           length(5),
		"HTTP/1.1   200  \r\nContent-Length: 5\r\n\r\n":       length(5),
		"HTTP/1.7 200 OK\r\nContent-Length: 5\r\n\r\n":        length(5),
		ok + "Content-Length: 5\r\nContent-Length: 5\r\n\r\n": length(5),
		ok + "Content-Length: 9223372036854775807\r\n\r\n":    length(9223372036854775807),
		ok + "Server : x\r\nContent-Length: 5\r\n\r\n":        length(5),
		ok + "X: a\r\n b\r\n\tc\r\nContent-Length: 5\r\n\r\n": length(5),
		ok + "X: \xff\xfe\r\nContent-Length: 5\r\n\r\n":       length(5),
		ok + "\r\n":                       untilEnd,
		ok + "Content-Length : 5\r\n\r\n": untilEnd,
		ok + "Connection: close\r\nContent-Length: 5\r\n\r\n":                    ends,
		ok + "Connection: x, CLOSE ,y\r\nContent-Length: 5\r\n\r\n":              ends,
		ok + "Connection: keep-alive\r\nContent-Length: 5\r\n\r\n":               length(5),
		ok + "Connection: closed\r\nContent-Length: 5\r\n\r\n":                   length(5),
		"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n":                           ends,
		"HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\n": length(5),
		"HTTP/1.0 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n":                     untilEnd,
		ok + "Transfer-Encoding: Chunked\r\n\r\n":                                chunks,
		ok + "Keep-Alive: timeout=5, max=100\r\nContent-Length: 5\r\n\r\n":       rest(4 * time.Second),
		ok + "Keep-Alive: max=100,Timeout = 5\r\nContent-Length: 5\r\n\r\n":      rest(4 * time.Second),
		ok + "Keep-Alive: timeout=1\r\nContent-Length: 5\r\n\r\n":                rest(0),
		ok + "Keep-Alive: timeout=0\r\nContent-Length: 5\r\n\r\n":                rest(-time.Second),
		ok + "Keep-Alive: timeout=999999999999\r\nContent-Length: 5\r\n\r\n":     rest(MaxIdle),
		ok + "Keep-Alive: timeout=x\r\nContent-Length: 5\r\n\r\n":                rest(MaxIdle),
		ok + "Retry-After:  7 \r\nretry-after: 8\r\nContent-Length: 5\r\n\r\n":   usual(func(h *Head) { h.RetryAfter = "7" }),
		"HTTP/1.1 204 No Content\r\n\r\n":                                        usual(func(h *Head) { h.Status, h.Length = 204, 0 }),
		"HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n":                           usual(func(h *Head) { h.Status, h.Length = 304, 0 }),
		"HTTP/1.1 103 Early\r\n\r\n":                                             usual(func(h *Head) { h.Status, h.Length = 103, 0 }),
	}
	for text, want := range tests {
		got, err := parse([]byte(text))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: error %v (-want +got):\n%s", text, err, diff)
		}
	}
}

func TestMalformedHeads(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	tests := map[string]error{
		"\r\n":                                                         errStatusLine,
		"HTTP/1.1\r\n\r\n":                                             errStatusLine,
		"HTTP/1.1 \r\n\r\n":                                            errStatusLine,
		"HTTP/1.1 20\r\n\r\n":                                          errStatusLine,
		"HTTP/1.1 2000\r\n\r\n":                                        errStatusLine,
		"HTTP/1.1 200OK\r\n\r\n":                                       errStatusLine,
		"HTTP/1.1 +20 OK\r\n\r\n":                                      errStatusLine,
		"HTTP/1.1 099 OK\r\n\r\n":                                      errStatusLine,
		"HTTP/1.1\t200 OK\r\n\r\n":                                     errStatusLine,
		"HTTP/1.x 200 OK\r\n\r\n":                                      errStatusLine,
		"HTTP/2.0 200 OK\r\n\r\n":                                      errStatusLine,
		"http/1.1 200 OK\r\n\r\n":                                      errStatusLine,
		" HTTP/1.1 200 OK\r\n\r\n":                                     errStatusLine,
		ok + "X\r\n\r\n":                                               errField,
		ok + ": x\r\n\r\n":                                             errField,
		ok + " X: y\r\n\r\n":                                           errField,
		ok + "X\x00Y: z\r\n\r\n":                                       errField,
		ok + "X: a\x00b\r\n\r\n":                                       errField,
		ok + "X: a\rb\r\n\r\n":                                         errField,
		ok + "X: a\r\n b\x00\r\n\r\n":                                  errField,
		ok + "Kä: x\r\n\r\n":                                           errField,
		ok + "Content-Length:\r\n\r\n":                                 errLength,
		ok + "Content-Length: +5\r\n\r\n":                              errLength,
		ok + "Content-Length: -5\r\n\r\n":                              errLength,
		ok + "Content-Length: 5, 5\r\n\r\n":                            errLength,
		ok + "Content-Length: 0x5\r\n\r\n":                             errLength,
		ok + "Content-Length: 9223372036854775808\r\n\r\n":             errLength,
		ok + "Content-Length: 5\r\n 5\r\n\r\n":                         errField,
		ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n":          errTwoLengths,
		ok + "Content-Length: 5\r\nContent-Length: 05\r\n\r\n":         errTwoLengths,
		ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n": errTwoLengths,
		ok + "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n": errTwoLengths,
		ok + "Transfer-Encoding: gzip, chunked\r\n\r\n":                errEncoding,
		ok + "Transfer-Encoding: identity\r\n\r\n":                     errEncoding,
		ok + "Transfer-Encoding: chun\u212aed\r\n\r\n":                 errEncoding,
		ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n":      errEncoding,
		"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n": errTwoLengths,
	}
	for text, want := range tests {
		if h, err := parse([]byte(text)); !errors.Is(err, want) {
			t.Errorf("%q: %+v, error %v, want %v", text, h, err, want)
		}
	}
}

var errSilence = errors.New("silence")

// pieces gives a text in parts, however large the buffer, and then an end.
type pieces []string

func (p *pieces) Read(into []byte) (int, error) {
	if len(*p) == 0 {
		return 0, errSilence
	}
	n := copy(into, (*p)[0])
	if (*p)[0] = (*p)[0][n:]; (*p)[0] == "" {
		*p = (*p)[1:]
	}
	return n, nil
}

// However the network cuts a response up, the same comes of it.
func TestHeadsArriveInPieces(t *testing.T) {
	for _, end := range []string{"\r\n", "\n"} {
		text := strings.ReplaceAll("HTTP/1.1 100 Continue\n\nHTTP/1.1 200 OK\nX: "+strings.Repeat("x", 2*firstRead)+"\nContent-Length: 5\n\nhello", "\n", end)
		for _, size := range []int{1, 2, 3, 7, firstRead - 1, firstRead, firstRead + 1, len(text)} {
			var src pieces
			for at := 0; at < len(text); at += size {
				src = append(src, text[at:min(at+size, len(text))])
			}
			r := NewReader()
			h, err := r.Next(&src)
			if err != nil || h.Status != 200 || h.Length != 5 {
				t.Errorf("pieces of %d: %+v, error %v", size, h, err)
			}
			if rest := string(r.Rest()) + strings.Join(src, ""); rest != "hello" {
				t.Errorf("pieces of %d: %q is left", size, rest)
			}
		}
	}
}

func TestHeadsAreBounded(t *testing.T) {
	const (
		ok   = "HTTP/1.1 200 OK\r\n"
		info = "HTTP/1.1 103 Early Hints\r\n\r\n"
	)
	of := func(size int) string {
		return ok + "X: " + strings.Repeat("x", size-len(ok)-len("X: \r\n\r\n")) + "\r\n\r\n"
	}
	tests := []struct {
		name string
		text string
		want error
	}{
		{"as long as may be", of(maxHead), nil},
		{"a byte longer", of(maxHead + 1), errHeadTooLong},
		{"informational ones count", info + of(maxHead-len(info)), nil},
		{"a byte longer with those", info + of(maxHead-len(info)+1), errHeadTooLong},
		{"no end", ok + strings.Repeat("X: y\r\n", maxHead), errHeadTooLong},
		{"eight informational ones", strings.Repeat(info, 8) + ok + "\r\n", nil},
		{"nine", strings.Repeat(info, 9) + ok + "\r\n", errTooManyInfo},
		{"a switch", "HTTP/1.1 101 Switching Protocols\r\n\r\n", errSwitching},
		{"another protocol, unfinished", "SSH-", errStatusLine},
		{"silence in the middle", ok + "X: ", errSilence},
	}
	for _, test := range tests {
		r := NewReader()
		if h, err := r.Next(&pieces{test.text}); !errors.Is(err, test.want) {
			t.Errorf("%s: %+v, error %v, want %v", test.name, h, err, test.want)
		}
		if len(r.buf) > 2*maxHead {
			t.Errorf("%s: %d bytes of buffer", test.name, len(r.buf))
		}
	}
}
