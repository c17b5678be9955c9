package schemas_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
)

// Whatever headers are within their bounds come back as they were, and the same
// headers always give the same pairs in the same order.
func TestHeadersRoundTrip(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		h := randomHeaders(rng)
		got, err := schemas.ParseHeaders(h.All())
		if err != nil {
			t.Fatalf("decode %+v: %v", h, err)
		}
		if !reflect.DeepEqual(h, got) { // cmp.Diff takes milliseconds for a large map
			t.Fatalf("round trip (-encoded +decoded):\n%s", cmp.Diff(h, got))
		}
	}
}

func randomHeaders(rng *rand.Rand) schemas.Headers {
	maybe := func() bool { return rng.IntN(2) == 0 }
	text := func(alphabet string, limit int) string {
		if maybe() {
			return ""
		}
		letters := []rune(alphabet)
		out := make([]rune, 1+rng.IntN(limit))
		for i := range out {
			out[i] = letters[rng.IntN(len(letters))]
		}
		return string(out)
	}
	instant := func() time.Time {
		if maybe() {
			return time.Time{}
		}
		return time.UnixMilli(rng.Int64N(253402300800000)).UTC()
	}
	const idLetters = "abcdefghijklmnopqrstuvwxyz0123456789-"
	h := schemas.Headers{
		Source:       text(idLetters, schemas.MaxIDBytes),
		MessageID:    text("aé🛶\"\x00\n", schemas.MaxMessageIDChars),
		Destination:  text(idLetters, schemas.MaxIDBytes),
		Run:          text(idLetters, schemas.MaxIDBytes),
		Attempt:      rng.IntN(3) * rng.IntN(schemas.MaxAttempts/2),
		Withheld:     rng.IntN(3) * rng.IntN(schemas.MaxAttempts/2),
		Reserved:     rng.IntN(2) == 0,
		Paused:       time.Duration(rng.IntN(2)*rng.IntN(1e12)) * time.Millisecond,
		FirstAttempt: instant(),
		Due:          instant(),
		Detail:       text("text: é", schemas.MaxDetailBytes/2),
		Answer:       bytesOf(text("a\"\\é🛶\x00\n", schemas.MaxAnswerBytes/4)),
		Reference:    maybe(),
		FailedAt:     instant(),
		Received:     instant(),
	}
	if maybe() {
		h.Type = allTypes[rng.IntN(len(allTypes))]
		h.Origin = []schemas.Origin{schemas.OriginAPI, schemas.OriginPersonas, schemas.OriginDeletion, schemas.OriginReplay}[rng.IntN(4)]
		h.Reason = schemas.Reasons()[rng.IntN(len(schemas.Reasons()))]
		h.TraceParent = fmt.Sprintf("00-%016x%016x-%016x-%02x", rng.Uint64(), 1+rng.Uint64N(9), 1+rng.Uint64N(9), rng.IntN(256))
		h.Integrations = []byte(`{"` + strings.Repeat("x", rng.IntN(schemas.MaxIntegrationsBytes-10)) + `":1}`)
	}
	for range rng.IntN(schemas.MaxEndpoints + 1) {
		h.Endpoints = append(h.Endpoints, rng.Uint64())
	}
	if maybe() {
		h.Happened = time.UnixMilli(rng.Int64N(2*253402300800000) - 253402300800000).UTC()
		h.Only = []string{}
	}
	for range rng.IntN(4) {
		if id := text(idLetters, schemas.MaxIDBytes); id != "" && id != "-" { // that alone stands for nobody
			h.Only = append(h.Only, id)
		}
	}
	if topic := text(idLetters+"._", schemas.MaxTopicBytes); topic != "" {
		h.From = schemas.Position{Topic: topic, Partition: rng.Int32(), Offset: rng.Int64()}
	}
	return h
}

func bytesOf(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}

// Whatever bytes a record carries: no panic, and what is accepted is within the
// bounds that All promises to keep, so that it survives the next hop unchanged.
func FuzzParseHeaders(f *testing.F) {
	whole := buried()
	var seed []byte
	for key, value := range whole.All() {
		f.Add([]byte(key + "=" + string(value)))
		seed = append(seed, key+"="+string(value)+"\n"...)
	}
	f.Add(seed)
	f.Add([]byte("version=2\nattempt=x\nmessage-id=m\nversion=0"))
	f.Add([]byte("traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\nreceived=1795223069775\nreason=of_later"))
	f.Add([]byte("from-topic=t\nfrom-offset=1"))
	f.Add([]byte("attempt=-1\nattempt=" + strconv.Itoa(math.MaxInt)))
	f.Add([]byte("endpoints=,,,\nunknown=\n=\n\xff=\xff"))
	f.Fuzz(func(t *testing.T, lines []byte) {
		h, err := schemas.ParseHeaders(func(yield func(string, []byte) bool) {
			for line := range bytes.SplitSeq(lines, []byte("\n")) {
				key, value, _ := bytes.Cut(line, []byte("="))
				if !yield(string(key), value) {
					return
				}
			}
		})
		if later := new(schemas.VersionError); errors.As(err, &later) != (h.Version > schemas.RecordVersion) {
			t.Fatalf("version %d with error %v", h.Version, err)
		}
		if err != nil {
			h.From, h.Version = schemas.Position{}, 0 // as a dead letter's are set anew
		}
		again, err := schemas.ParseHeaders(h.All())
		if err != nil {
			t.Fatalf("decode what was accepted and encoded: %v", err)
		}
		if !reflect.DeepEqual(h, again) {
			t.Fatalf("second hop (-first +second):\n%s", cmp.Diff(h, again))
		}
	})
}
