package foes

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// How long a connection may last that never comes to a whole request: until its
// head is due, and until all of it is (internal/service).
const (
	headBound = 5 * time.Second
	bodyBound = 15 * time.Second
)

// kind is one kind of hostile client.
type kind struct {
	name  string
	count int // clients at once
	// perSecond is how often each of them sends its text, in a connection of its own
	// each time. Zero: it is slow, and goes on with a byte a second of what it drips.
	perSecond float64
	text      []byte
	drips     []byte
	answers   []int         // statuses that say that the server looked at it
	bound     time.Duration // of slow ones: when the server has to end it
	from      string        // address of its own, of this machine; empty: any
}

// Kinds is how many there are beside those of Bodies.
const Kinds = 13

// kinds are they, aimed at a source with the given write key; slow is how many of
// each slow kind there are. The others come at a rate that costs the server a part
// of one core.
func kinds(writeKey string, slow int) []kind {
	key := base64.StdEncoding.EncodeToString([]byte(writeKey + ":"))
	return []kind{
		{name: "slow heads", count: slow, text: []byte("POST /v1/track HTTP/1.1\r\nX-Slow: "), drips: bytes.Repeat([]byte{'a'}, 100), bound: headBound},
		{name: "slow bodies", count: slow, text: head(key, 30_000, ""), drips: bytes.Repeat([]byte{' '}, 100), bound: bodyBound},
		{name: "silent", count: slow, text: []byte("P"), bound: headBound},
		{name: "bombs", count: 4, perSecond: 5, text: request(key, bomb(), "Content-Encoding: gzip\r\n"), answers: []int{http.StatusRequestEntityTooLarge}},
		{name: "nests", count: 2, perSecond: 5, text: request(key, bytes.Repeat([]byte{'['}, schemas.MaxBatchBytes-1), ""), answers: []int{http.StatusBadRequest}},
		{name: "crowds", count: 2, perSecond: 5, text: request(key, crowd(), ""), answers: []int{http.StatusBadRequest}},
		{name: "keys", count: 2, perSecond: 5, text: request(key, manyKeys(), ""), answers: []int{http.StatusBadRequest}},
		{name: "numbers", count: 4, perSecond: 5, text: request(key, numbers(), "Content-Encoding: gzip\r\n"), answers: []int{http.StatusBadRequest}},
		{name: "numbers without a key", count: 4, perSecond: 10, text: request("", numbers(), "Content-Encoding: gzip\r\n"), answers: []int{http.StatusUnauthorized, http.StatusTooManyRequests}},
		{name: "wrong keys", count: 4, perSecond: 50, text: request("eDo=", []byte("{}"), ""), answers: []int{http.StatusUnauthorized, http.StatusTooManyRequests}},
		{name: "no HTTP", count: 4, perSecond: 50, text: []byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"), answers: []int{http.StatusBadRequest}},
		{name: "smugglers", count: 4, perSecond: 50, text: smuggled(key), answers: []int{http.StatusBadRequest}},
		{name: "long heads", count: 4, perSecond: 20, text: []byte("POST /v1/batch HTTP/1.1\r\nHost: a\r\nX-Long: " + strings.Repeat("a", 1<<16) + "\r\n\r\n"), answers: []int{http.StatusRequestHeaderFieldsTooLarge}},
	}
}

// bodies are those that send a part of a body and then nothing, without a key and
// from one address. Together the large ones want more memory than there is for
// bodies, and the small ones what these leave of it.
func bodies() []kind {
	half := func(name string, count, bytesOf int) kind {
		return kind{
			name: name, count: count, perSecond: 0.3, text: append(head("", 500_000, ""), bytes.Repeat([]byte{' '}, bytesOf)...), from: "127.0.0.2",
			answers: []int{http.StatusRequestTimeout, http.StatusServiceUnavailable, http.StatusTooManyRequests},
		}
	}
	return []kind{half("large half bodies", 325, 200_000), half("small half bodies", 100, 5_000)}
}

// Halves is how many kinds [Bodies] has attack.
const Halves = 2

// head is that of a batch whose body has so many bytes; the key may be left out.
func head(key string, length int, more string) []byte {
	if key != "" {
		more += "Authorization: Basic " + key + "\r\n"
	}
	return fmt.Appendf(nil, "POST /v1/batch HTTP/1.1\r\nHost: a\r\n%sContent-Length: %d\r\n\r\n", more, length)
}

func request(key string, body []byte, more string) []byte {
	return append(head(key, len(body), more), body...)
}

// smuggled is a request in whose body, by one of its two lengths, stands another.
func smuggled(key string) []byte {
	return fmt.Appendf(nil, "POST /v1/batch HTTP/1.1\r\nHost: a\r\nAuthorization: Basic %s\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"+
		"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", key)
}

// bomb is 300 MiB of white space in about 300 KiB of gzip, one member for each
// MiB: packing all of it would keep the bench busy for seconds.
func bomb() []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(bytes.Repeat([]byte{' '}, 1<<20)) // to memory
	_ = w.Close()
	return bytes.Repeat(packed.Bytes(), 300)
}

// numbers is half a megabyte of numbers below the smallest normal one, in gzip. It
// ends early, so that nothing of it is accepted.
func numbers() []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = fmt.Fprintf(w, `{"context":{"a":[%s`, strings.Repeat("1e-310,", 70_000)) // to memory
	_ = w.Close()
	return packed.Bytes()
}

// crowd is a batch of far too many calls.
func crowd() []byte {
	return []byte(`{"batch":[` + strings.Repeat(`{},`, 100_000) + `{}]}`)
}

// manyKeys is one call of as many keys as fit into a batch.
func manyKeys() []byte {
	b := []byte(`{"batch":[{"type":"track","event":"e","userId":"u","properties":{"0":0`)
	for i := 1; len(b) < schemas.MaxBatchBytes-64; i++ {
		b = fmt.Appendf(b, `,"%d":0`, i)
	}
	return append(b, `}}]}`...)
}
