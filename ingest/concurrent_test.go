package ingest

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestRequestsDoNotMix sends many requests of different sizes at once. Buffers
// and decoders are used again and again; a record that aliased one would hold a
// piece of another request.
func TestRequestsDoNotMix(t *testing.T) {
	const clients, requests, calls = 8, 20, 5
	s := start(t, testkit.Brokers(t))
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			for n := range requests {
				if got := s.post(t, "/v1/batch", marked(fmt.Sprintf("<%d.%d>", client, n), calls, (client*requests+n)*37%4000)); got.body != success {
					t.Errorf("got %d %s", got.status, got.body)
				}
			}
		})
	}
	all.Wait()
	seen := make(map[string]int)
	for _, r := range s.cluster.ReadAll(t, schemas.TopicRawEvents, clients*requests*calls) {
		h, err := kafka.HeadersOf(r)
		if err != nil {
			t.Fatal(err)
		}
		mark := string(r.Key)
		if h.MessageID != mark || bytes.Count(r.Value, []byte(mark)) != 5 || bytes.Count(r.Value, []byte("<")) != 5 || !strings.Contains(string(h.Integrations), mark) {
			t.Fatalf("a record of %s is mixed: %s", mark, render(r))
		}
		seen[mark]++
	}
	if len(seen) != clients*requests {
		t.Errorf("calls of %d requests are stored, want %d", len(seen), clients*requests)
	}
}

// marked is a batch that holds a mark in all places that are copied.
func marked(mark string, calls, pad int) string {
	call := fmt.Sprintf(`{"type":"identify","userId":%q,"messageId":%q,"traits":{"pad":%q,"mark":%q}}`, mark, mark, strings.Repeat("x", pad), mark)
	return `{"batch":[` + strings.TrimSuffix(strings.Repeat(call+",", calls), ",") + `],"context":{"mark":"` + mark + `"},"integrations":{"` + mark + `":true}}`
}
