package docstest

import (
	"encoding/hex"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

var (
	exampleRecord = regexp.MustCompile("(?s)<!-- example: (\\S+) -->\n```text\n(.*?)```")
	exampleBytes  = regexp.MustCompile(`^([0-9a-f]{2,} ?)+`)
)

// TestTheRecordsOfTheJournalPage say what is written beside their bytes.
func TestTheRecordsOfTheJournalPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/journal.md")
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)
	const first, second = 0x0123456789abcdef, 0x1123456789abcdef
	decisions := []journal.Decision{{Destination: "crm", Result: journal.Sent}, {Destination: "lake", Result: journal.Filtered, Why: "All"}}
	type said struct {
		Head     journal.Head
		Calls    []journal.Call
		Attempts []journal.Attempt
	}
	want := map[string]said{
		"router/raw-events/3": {
			Head: journal.Head{Stage: "router", Topic: schemas.TopicRawEvents, Partition: 3, From: 40, Next: 44, KeyID: 0x5f0e6a1b, Base: noon},
			Calls: []journal.Call{
				{Offset: 40, Fingerprint: first, Source: "web", Result: journal.Routed, Decisions: decisions},
				{Offset: 41, Fingerprint: second, Source: "web", Result: journal.Routed, Decisions: decisions},
				{Offset: 43, Fingerprint: first, Source: "web", Result: journal.Duplicate},
			},
		},
		"webhook-sink/deliver.crm/0": {
			Head: journal.Head{Stage: "webhook-sink", Topic: "deliver.crm", From: 17, Next: 20, KeyID: 0x5f0e6a1b, Base: noon.Add(time.Second)},
			Attempts: []journal.Attempt{
				{
					Offset: 17, Fingerprint: first, Destination: "crm", Source: "web", Outcome: journal.Delivered,
					Endpoints: 1, Took: 180 * time.Millisecond, At: noon.Add(200 * time.Millisecond), Number: 1,
				},
				{
					Offset: 19, Fingerprint: second, Destination: "crm", Source: "web", Outcome: journal.Retried, Reason: schemas.ReasonTimeout,
					Endpoints: 1, Took: 300 * time.Millisecond, At: noon.Add(320 * time.Millisecond), Number: 1,
					Until: noon.Add(5320 * time.Millisecond), Topic: "webhook-retry.5s",
				},
			},
		},
	}
	got := make(map[string]said)
	for _, example := range exampleRecord.FindAllStringSubmatch(string(page), -1) {
		r, err := journal.Decode([]byte(example[1]), bytesOf(t, example[2]))
		if err != nil {
			t.Fatalf("%s: %v", example[1], err)
		}
		got[example[1]] = said{r.Head, slices.Collect(r.Calls()), slices.Collect(r.Attempts())}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the records (-want +got):\n%s", diff)
	}
}

// bytesOf are those that the lines of an example begin with.
func bytesOf(t *testing.T, lines string) (all []byte) {
	t.Helper()
	for line := range strings.Lines(lines) {
		b, err := hex.DecodeString(strings.ReplaceAll(exampleBytes.FindString(strings.TrimSpace(line)+" "), " ", ""))
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, b...)
	}
	return all
}
