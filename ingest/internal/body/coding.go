package body

import (
	"bytes"
	"net/http"
	"strings"
)

// coding is how a body is compressed.
type coding int

const (
	identity coding = iota
	gzipped
)

// codingOf reads the Content-Encoding headers of a request: gzip once or nothing,
// and identity as often as anybody likes. False is anything else: a coding that is
// not known here, or two on top of each other.
func codingOf(h http.Header) (c coding, ok bool) {
	for _, line := range h["Content-Encoding"] {
		for name := range strings.SplitSeq(line, ",") {
			switch strings.ToLower(strings.Trim(name, " \t")) {
			case "", "identity":
			case "gzip", "x-gzip":
				if c == gzipped {
					return c, false
				}
				c = gzipped
			default:
				return c, false
			}
		}
	}
	return c, true
}

// magic is how every gzip stream begins and no JSON text.
var magic = []byte{0x1f, 0x8b}

// looksGzipped reports whether a body that does not say so is compressed: there
// are clients, and proxies, that lose the header.
func looksGzipped(raw []byte) bool { return bytes.HasPrefix(raw, magic) }
