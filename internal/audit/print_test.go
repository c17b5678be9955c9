package audit

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

// example is a report with something of each in it.
func example(t *testing.T) *Report {
	t.Helper()
	began := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	h := &history{began: began, keyID: 7}
	add := func(id string, result journal.CallResult, decisions ...journal.Decision) *call {
		n := len(h.calls)
		c := &call{offset: int64(1700 + n), source: "website", id: id, fingerprint: uint64(n), result: result, decisions: decisions, ways: make([]*way, len(decisions))}
		h.calls = append(h.calls, c)
		return c
	}
	try := func(c *call, destination string, outcome journal.Outcome, number int) *way {
		a := journal.Attempt{
			Offset: c.offset, Fingerprint: c.fingerprint, Destination: destination, Source: c.source, Outcome: outcome, Endpoints: 1,
			At: began.Add(11 * time.Minute), Number: number, Topic: "webhook-retry.30s",
		}
		return &way{attempts: []attempt{{stand{schemas.DeliverTopic(destination), 0, c.offset}, a}}}
	}
	crm, mail := journal.Decision{Destination: "crm", Result: journal.Sent}, journal.Decision{Destination: "mail", Result: journal.Filtered}
	for range 5 {
		c := add("m-1", journal.Routed, crm, mail)
		c.ways[0] = try(c, "crm", journal.Delivered, 1)
	}
	h.calls[4].ways[0].attempts = append(h.calls[4].ways[0].attempts, h.calls[4].ways[0].attempts[0])
	add("m-1", journal.Duplicate)
	c := add("m-2", journal.Routed, crm)
	c.ways[0] = try(c, "crm", journal.Dead, 1)
	c.ways[0].letter = &stand{schemas.TopicDeadLetters, 2, 17}
	c = add("m-3", journal.Routed, crm)
	c.ways[0] = &way{waits: &stand{schemas.DeliverTopic("crm"), 0, 1800}}
	c = add("a3f0e7c2-5b1d", journal.Routed, crm)
	c.ways[0] = try(c, "crm", journal.Retried, 1)
	h.calls = append(h.calls, &call{offset: 1720, source: "website", id: "m-4", unrouted: true})
	l := newLedger(Selection{}, h.keyID, map[int32]*calls{0: newCalls(ranges.Range{Start: 1700, End: 1800}, 1720)})
	defer l.piles.Close()
	h.Rand = newHistory(1, 0).Rand
	h.tell(t, l)
	l.doubt(NotJournalled, partOf(schemas.TopicRawEvents, 4), 12, began)
	l.doubt(NotJournalled, partOf(schemas.TopicRawEvents, 4), 3, began.Add(time.Minute))
	r := &Report{From: began, To: began.Add(time.Hour), AsOf: began.Add(time.Hour + 10*time.Second)}
	r.Rows, r.Missing, r.Unknown = l.result()
	return r
}

// TestThePageShowsAReport: docs/audit.md shows what is printed.
func TestThePageShowsAReport(t *testing.T) {
	t.Parallel()
	r := example(t)
	var text bytes.Buffer
	if err := Table(&text, r); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```text\n"+text.String()+"```\n") {
		t.Errorf("docs/audit.md does not show what is printed:\n%s", &text)
	}
}

// TestReportsForPrograms: nothing is null, and what is zero stands there.
func TestReportsForPrograms(t *testing.T) {
	t.Parallel()
	l := newLedger(Selection{}, 0, nil)
	r := new(Report)
	r.Rows, r.Missing, r.Unknown = l.result()
	text, err := json.Marshal(r)
	if err != nil || strings.Contains(string(text), "null") {
		t.Errorf("%s, %v", text, err)
	}
	if r.Outcome() != AddsUp || r.Err() != nil {
		t.Errorf("nothing was accepted: %d, %v", r.Outcome(), r.Err())
	}
}
