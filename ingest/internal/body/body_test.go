package body

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

const limit = 1000

// request returns one with a body, a length (-1 for unknown) and content codings.
func request(r io.Reader, length int64, codings ...string) *http.Request {
	return &http.Request{Body: io.NopCloser(r), ContentLength: length, Header: http.Header{"Content-Encoding": codings}}
}

// compress returns a gzip stream of parts, each a member of its own.
func compress(parts ...string) string {
	var b bytes.Buffer
	for _, part := range parts {
		w := gzip.NewWriter(&b)
		_, _ = io.WriteString(w, part)
		_ = w.Close()
	}
	return b.String()
}

func xs(n int) string { return strings.Repeat("x", n) }

func TestPlainBodies(t *testing.T) {
	cut := errors.New("cut")
	for name, c := range map[string]struct {
		body   io.Reader
		length int64
		want   int
		err    error
	}{
		"empty":                   {strings.NewReader(""), 0, 0, nil},
		"at the limit":            {strings.NewReader(xs(limit)), limit, limit, nil},
		"at the limit, unknown":   {strings.NewReader(xs(limit)), -1, limit, nil},
		"byte by byte":            {iotest.OneByteReader(strings.NewReader(xs(limit))), -1, limit, nil},
		"data with the end":       {iotest.DataErrReader(strings.NewReader(xs(limit))), -1, limit, nil},
		"announced as too long":   {iotest.ErrReader(errors.New("was read")), limit + 1, 0, ErrTooLong},
		"too long, unknown":       {strings.NewReader(xs(limit + 1)), -1, 0, ErrTooLong},
		"endless":                 {endless{}, -1, 0, ErrTooLong},
		"too long, with the end":  {iotest.DataErrReader(strings.NewReader(xs(limit + 1))), -1, 0, ErrTooLong},
		"cut off":                 {io.MultiReader(strings.NewReader("xx"), iotest.ErrReader(cut)), 10, 0, cut},
		"nothing and no end, yet": {iotest.DataErrReader(iotest.HalfReader(strings.NewReader("xxxx"))), -1, 4, nil},
	} {
		for _, room := range []int{0, 1, 64, limit, limit + 1, 4 * limit} {
			b := &Body{pool: new(Pool), raw: make([]byte, 0, room)}
			err := b.Receive(request(c.body, c.length), limit, Sender{})
			if !errors.Is(err, c.err) {
				t.Errorf("%s, room for %d: got %v, want %v", name, room, err, c.err)
			}
			if text, _ := b.Text(); err == nil && string(text) != xs(c.want) {
				t.Errorf("%s, room for %d: got %d bytes, want %d", name, room, len(text), c.want)
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

func TestCodings(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  coding
		ok    bool
	}{
		{nil, identity, true},
		{[]string{""}, identity, true},
		{[]string{"identity"}, identity, true},
		{[]string{"gzip"}, gzipped, true},
		{[]string{" GZip\t"}, gzipped, true},
		{[]string{"x-gzip"}, gzipped, true},
		{[]string{"identity, gzip,"}, gzipped, true},
		{[]string{"identity", "gzip"}, gzipped, true},
		{[]string{"gzip, gzip"}, gzipped, false},
		{[]string{"gzip", "x-gzip"}, gzipped, false},
		{[]string{"br"}, identity, false},
		{[]string{"deflate"}, identity, false},
		{[]string{"gzip, br"}, gzipped, false},
		{[]string{"gzip;q=1"}, identity, false},
	} {
		if got, ok := codingOf(http.Header{"Content-Encoding": c.lines}); ok != c.ok || ok && got != c.want {
			t.Errorf("%q: got %v %v, want %v %v", c.lines, got, ok, c.want, c.ok)
		}
	}
}

func TestCompressedBodies(t *testing.T) {
	whole := compress(xs(600))
	damaged := []byte(whole)
	damaged[len(damaged)-5] ^= 1 // in the checksum
	for name, c := range map[string]struct {
		body, want string
		err        error
	}{
		"one member":           {whole, xs(600), nil},
		"two members":          {compress("abc", "def"), "abcdef", nil},
		"an empty member":      {compress("abc", ""), "abc", nil},
		"nothing in it":        {compress(""), "", nil},
		"at the limit":         {compress(xs(limit)), xs(limit), nil},
		"beyond":               {compress(xs(limit + 1)), "", ErrTooLong},
		"beyond in members":    {compress(xs(limit), "x"), "", ErrTooLong},
		"a bomb":               {compress(xs(1_000_000)), "", ErrTooLong},
		"not gzip":             {`{"userId":"u"}`, "", ErrNotGzip},
		"empty":                {"", "", ErrNotGzip},
		"a header alone":       {whole[:10], "", ErrNotGzip},
		"half a header":        {whole[:5], "", ErrNotGzip},
		"cut off":              {whole[:len(whole)-9], "", ErrNotGzip},
		"without its checksum": {whole[:len(whole)-8], "", ErrNotGzip},
		"damaged":              {string(damaged), "", ErrNotGzip},
		"garbage behind":       {whole + "garbage", "", ErrNotGzip},
		"half a member behind": {compress("abc") + whole[:20], "", ErrNotGzip},
		"zlib":                 {"\x78\x9c\x03\x00\x00\x00\x00\x01", "", ErrNotGzip},
		"another method":       {"\x1f\x8b\x07" + whole[3:], "", ErrNotGzip},
	} {
		var p Pool
		for _, how := range []string{"first", "again"} {
			b := p.Get()
			if err := b.Receive(request(strings.NewReader(c.body), -1, "gzip"), limit, Sender{}); err != nil {
				t.Fatal(err)
			}
			text, err := b.Text()
			if !errors.Is(err, c.err) || err == nil && string(text) != c.want {
				t.Errorf("%s, %s: got %d bytes, %v; want %d, %v", name, how, len(text), err, len(c.want), c.err)
			}
			p.Put(b)
		}
	}
}

func TestABodyThatDoesNotSayThatItIsCompressed(t *testing.T) {
	for body, want := range map[string]string{compress("abc"): "abc", "\x1f": "\x1f", "x" + compress("abc"): "x" + compress("abc")} {
		b := new(Pool).Get()
		if err := b.Receive(request(strings.NewReader(body), int64(len(body)), "identity"), limit, Sender{}); err != nil {
			t.Fatal(err)
		}
		if text, err := b.Text(); err != nil || string(text) != want {
			t.Errorf("%q: got %q, %v", body, text, err)
		}
	}
}

// noise returns n bytes that can't be compressed.
func noise(n int) string {
	b, x := make([]byte, n), uint32(1)
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
	return string(b)
}

// TestWhatCannotBeCompressedMayBeLongerOnTheWay sends streams that are longer
// than what is in them.
func TestWhatCannotBeCompressedMayBeLongerOnTheWay(t *testing.T) {
	const limit = 512_000
	stream := compress(noise(limit))
	if len(stream) <= limit {
		t.Fatal("the stream is not longer than its content")
	}
	b := new(Pool).Get()
	if err := b.Receive(request(strings.NewReader(stream), int64(len(stream)), "gzip"), limit, Sender{}); err != nil {
		t.Fatal(err)
	}
	if text, err := b.Text(); err != nil || string(text) != noise(limit) {
		t.Errorf("got %d bytes, %v", len(text), err)
	}
	for _, length := range []int64{limit + overhead + 1, -1} {
		if err := b.Receive(request(endless{}, length, "gzip"), limit, Sender{}); !errors.Is(err, ErrTooLong) {
			t.Errorf("length %d: got %v", length, err)
		}
	}
}

func TestUnknownCodingsAreRefusedUnread(t *testing.T) {
	b := new(Pool).Get()
	if err := b.Receive(request(iotest.ErrReader(errors.New("was read")), 5, "br"), limit, Sender{}); !errors.Is(err, ErrCoding) {
		t.Errorf("got %v", err)
	}
}

func TestTheLargestBuffersAreNotKept(t *testing.T) {
	var p Pool
	large := p.Get()
	if err := large.Receive(request(strings.NewReader(xs(keepLarge+1)), -1), 2*keepLarge, Sender{}); err != nil {
		t.Fatal(err)
	}
	p.Put(large)
	if p.Get() == large {
		t.Error("the body was kept")
	}
	if kept := p.enlarge(p.Get()); kept != nil {
		t.Errorf("a buffer of %d bytes was kept", cap(kept))
	}
	b := p.Get()
	if err := b.Receive(request(strings.NewReader(compress(xs(keepLarge+1))), -1), 2*keepLarge, Sender{}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Text(); err != nil {
		t.Fatal(err)
	}
	z := b.z
	p.Put(b)
	if cap(z.text) > 0 || z.source.Len() > 0 || b.z != nil {
		t.Errorf("kept room for %d bytes", cap(z.text))
	}
}

// FuzzInflate holds the limit, and what comes out, against a plain gzip.Reader.
func FuzzInflate(f *testing.F) {
	for _, seed := range []string{compress("abc"), compress("abc", "def"), compress(xs(2000)), compress("abc")[:15], compress("") + "\x00", "\x1f\x8b", `{}`} {
		f.Add([]byte(seed))
	}
	var p Pool
	f.Fuzz(func(t *testing.T, raw []byte) {
		b := p.Get()
		defer p.Put(b)
		if err := b.Receive(request(bytes.NewReader(raw), -1, "gzip"), limit, Sender{}); err != nil {
			return // longer than any stream may be
		}
		got, err := b.Text()
		want, wantErr := reference(raw)
		switch {
		case len(want) > limit:
			if !errors.Is(err, ErrTooLong) {
				t.Fatalf("%q: got %v for %d bytes", raw, err, len(want))
			}
		case wantErr != nil:
			if !errors.Is(err, ErrNotGzip) {
				t.Fatalf("%q: got %v, want %v", raw, err, wantErr)
			}
		case err != nil || !bytes.Equal(got, want):
			t.Fatalf("%q: got %q, %v; want %q", raw, got, err, want)
		}
	})
}

// reference inflates raw up to a little more than the limit.
func reference(raw []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, limit+1))
}

func BenchmarkText(b *testing.B) {
	event := `{"userId":"u","event":"Order Completed","properties":{"pad":"` + noise(500)[:200] + xs(600) + `"}}`
	for name, body := range map[string]string{"plain": event, "gzip": compress(event)} {
		b.Run(name, func(b *testing.B) {
			var p Pool
			r := request(nil, int64(len(body)))
			b.SetBytes(int64(len(event)))
			b.ReportAllocs()
			for b.Loop() {
				r.Body = io.NopCloser(strings.NewReader(body))
				received := p.Get()
				if err := received.Receive(r, 32_768, Sender{}); err != nil {
					b.Fatal(err)
				}
				if _, err := received.Text(); err != nil {
					b.Fatal(err)
				}
				p.Put(received)
			}
		})
	}
}
