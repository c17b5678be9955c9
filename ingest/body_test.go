package ingest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadBody(t *testing.T) {
	const limit = 1000
	cut := errors.New("cut")
	for name, c := range map[string]struct {
		body   io.Reader
		length int64
		want   int
		err    error
	}{
		"empty":                   {strings.NewReader(""), 0, 0, nil},
		"at the limit":            {strings.NewReader(strings.Repeat("x", limit)), limit, limit, nil},
		"at the limit, unknown":   {strings.NewReader(strings.Repeat("x", limit)), -1, limit, nil},
		"byte by byte":            {iotest.OneByteReader(strings.NewReader(strings.Repeat("x", limit))), -1, limit, nil},
		"data with the end":       {iotest.DataErrReader(strings.NewReader(strings.Repeat("x", limit))), -1, limit, nil},
		"announced as too long":   {iotest.ErrReader(errors.New("was read")), limit + 1, 0, errBodyTooLong},
		"too long, unknown":       {strings.NewReader(strings.Repeat("x", limit+1)), -1, limit + 1, errBodyTooLong},
		"endless":                 {endless{}, -1, limit + 1, errBodyTooLong},
		"too long, with the end":  {iotest.DataErrReader(strings.NewReader(strings.Repeat("x", limit+1))), -1, limit + 1, errBodyTooLong},
		"cut off":                 {io.MultiReader(strings.NewReader("xx"), iotest.ErrReader(cut)), 10, 2, cut},
		"nothing and no end, yet": {iotest.DataErrReader(iotest.HalfReader(strings.NewReader("xxxx"))), -1, 4, nil},
	} {
		for _, room := range []int{0, 1, 64, limit, limit + 1, 4 * limit} {
			got, err := readBody(make([]byte, 0, room), &http.Request{Body: io.NopCloser(c.body), ContentLength: c.length}, limit)
			if !errors.Is(err, c.err) || len(got) != c.want || !bytes.Equal(got, bytes.Repeat([]byte("x"), c.want)) {
				t.Errorf("%s, room for %d: got %d bytes, %v; want %d, %v", name, room, len(got), err, c.want, c.err)
			}
			s, ok := c.body.(io.Seeker)
			if !ok {
				break
			}
			_, _ = s.Seek(0, io.SeekStart)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestLargeBuffersAreNotKept(t *testing.T) {
	var b bodies
	large := make([]byte, 0, keepBody+1)
	b.put(&large)
	if got := b.get(); cap(*got) > keepBody {
		t.Errorf("got a buffer of %d bytes", cap(*got))
	}
}
