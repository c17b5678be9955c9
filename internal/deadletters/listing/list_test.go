package listing

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/deadletters/internal/dltest"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

func newYard(t *testing.T) *dltest.Yard {
	t.Helper()
	cluster := testkit.Brokers(t)
	return dltest.New(t, cluster.Client(t), cluster.Options())
}

func expect(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("want %q in:\n%s", word, text)
		}
	}
}

func table(t *testing.T, y *dltest.Yard, selected deadletters.Selection) string {
	t.Helper()
	var out bytes.Buffer
	if err := Table(t.Context(), y.Log, selected, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func lines(t *testing.T, y *dltest.Yard, selected deadletters.Selection) []map[string]any {
	t.Helper()
	var out bytes.Buffer
	if err := JSON(t.Context(), y.Log, selected, &out); err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	for scanner := bufio.NewScanner(&out); scanner.Scan(); {
		var object map[string]any
		if err := json.Unmarshal(scanner.Bytes(), &object); err != nil {
			t.Fatalf("%s: %v", scanner.Text(), err)
		}
		all = append(all, object)
	}
	return all
}

func TestListOfNone(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	if got := table(t, y, deadletters.Selection{}); got != "no dead letters\n" {
		t.Errorf("printed %q", got)
	}
	if got := table(t, y, deadletters.Selection{Destination: "crm"}); got != "no dead letters match\n" {
		t.Errorf("printed %q", got)
	}
	if got := lines(t, y, deadletters.Selection{}); len(got) != 0 {
		t.Errorf("printed %v", got)
	}
}

// redriven marks a dead letter.
func redriven(t *testing.T, y *dltest.Yard, id deadletters.ID, at time.Time) {
	t.Helper()
	y.Ensure(t, schemas.TopicRedriven)
	mark, err := deadletters.Mark(&deadletters.Letter{ID: id, Record: &kgo.Record{}}, at, false)
	if err != nil {
		t.Fatal(err)
	}
	y.Bury(t, mark)
}

func TestList(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	at := time.Now().Add(time.Minute).UTC().Truncate(time.Second)
	first := y.Die(t, dltest.Headers(1, "crm", schemas.ReasonStatus4xx))
	redriven(t, y, first, at)
	y.Die(t, dltest.Headers(2, "crm", schemas.ReasonStatus4xx))
	hostile := dltest.Headers(3, "books", schemas.ReasonTLS)
	hostile.MessageID = "\x1b[2J"
	y.Die(t, hostile)
	y.Bury(t, &kgo.Record{Topic: schemas.TopicDeadLetters, Headers: []kgo.RecordHeader{{Key: "attempt", Value: []byte("many")}}})

	text := table(t, y, deadletters.Selection{})
	expect(t, text, first.String(), at.Format(terminal.Stamp), "m2", `"\x1b[2J"`, "answered 400", "header attempt: found \"many\"")
	if strings.Contains(text, "\x1b") {
		t.Errorf("a terminal would act on it: %q", text)
	}
	_, counts, _ := strings.Cut(text, "REDRIVEN\n")
	fields := strings.Fields(counts)
	want := strings.Fields("- - 1 0 books tls 1 0 crm status_4xx 2 1 all 4 1")
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("the counts (-want +got):\n%s", diff)
	}
}

func TestListForPrograms(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	at := time.Now().Add(time.Minute).UTC().Truncate(time.Millisecond)
	h := dltest.Headers(1, "crm", schemas.ReasonStatus4xx)
	id := y.Die(t, h)
	redriven(t, y, id, at)
	got := lines(t, y, deadletters.Selection{})
	if len(got) != 1 {
		t.Fatalf("%d lines", len(got))
	}
	failed, err := time.Parse(time.RFC3339, fmt.Sprint(got[0]["failedAt"]))
	if err != nil || time.Since(failed) > time.Minute {
		t.Errorf("failedAt is %v", got[0]["failedAt"])
	}
	delete(got[0], "failedAt")
	want := map[string]any{
		"id": id.String(), "destination": "crm", "reason": "status_4xx", "messageId": "m1", "attempts": 1.0, "detail": "answered 400",
		"type": "track", "source": "website", "origin": "api", "redrivenAt": at.Format(time.RFC3339Nano),
		"from": map[string]any{"topic": "deliver.crm", "partition": 0.0, "offset": 0.0},
	}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
	y.Bury(t, &kgo.Record{Topic: schemas.TopicDeadLetters, Headers: []kgo.RecordHeader{{Key: "attempt", Value: []byte("many")}}})
	for _, line := range lines(t, y, deadletters.Selection{}) {
		for _, key := range []string{"id", "destination", "reason", "messageId", "failedAt", "attempts"} {
			if _, ok := line[key]; !ok {
				t.Errorf("%s is missing in %v", key, line)
			}
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	h := dltest.Headers(1, "crm", schemas.ReasonStatus4xx)
	id := y.Die(t, h)
	var out bytes.Buffer
	if err := Show(t.Context(), y.Log, id, &out); err != nil {
		t.Fatal(err)
	}
	expect(t, out.String(), id.String(), "status_4xx", "answered 400", "user1", "from-topic", "deliver.crm", "  \"event\": \"Signed Up\"",
		"\nwhat the endpoint answered to the last attempt, its first 1,024 bytes at most:\n\nno such plan:\n\\u001b[31mgold\n")
	if strings.Contains(out.String(), `gold"`) {
		t.Errorf("the answer is printed twice:\n%s", &out)
	}
	out.Reset()
	if err := Event(t.Context(), y.Log, id, &out); err != nil || out.String() != string(dltest.Event(h).Value)+"\n" {
		t.Errorf("the event is printed as %q, error %v", out.String(), err)
	}
	nobody := deadletters.ID{Partition: id.Partition, Offset: id.Offset + 1}
	if err := Show(t.Context(), y.Log, nobody, &out); err == nil || !strings.Contains(err.Error(), nobody.String()) {
		t.Errorf("an id that is none: %v", err)
	}
}

func TestShowByReference(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	h := dltest.Headers(1, "crm", schemas.ReasonRecordTooLarge)
	event := dltest.Event(h)
	y.Ensure(t, event.Topic, schemas.TopicDeadLetters)
	kafka.SetHeaders(event, &schemas.Headers{MessageID: h.MessageID})
	y.Bury(t, event)
	there := y.Bury(t, kafka.DeadLetterReference(event, h, time.Now()))
	event.Offset += 10
	gone := y.Bury(t, kafka.DeadLetterReference(event, h, time.Now()))
	var out bytes.Buffer
	if err := Show(t.Context(), y.Log, there, &out); err != nil {
		t.Fatal(err)
	}
	expect(t, out.String(), "left out because of its size; the original record is at deliver.crm[", "\"event\": \"Signed Up\"")
	out.Reset()
	if err := Show(t.Context(), y.Log, gone, &out); err != nil {
		t.Fatal(err)
	}
	expect(t, out.String(), "no event: its value was left out, and the original record is gone")
	if err := Event(t.Context(), y.Log, gone, &out); err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("the event that is gone: %v", err)
	}
}

// TestALetterOfALaterReleaseIsShown with all that can be read of it, and with what
// to do.
func TestALetterOfALaterReleaseIsShown(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	h := dltest.Headers(1, "crm", schemas.ReasonVersionUnknown)
	h.Version = schemas.RecordVersion + 1
	event := dltest.Event(h)
	event.Headers = []kgo.RecordHeader{{Key: "version", Value: []byte("2")}, {Key: "tenant", Value: []byte("acme")}}
	y.Ensure(t, schemas.TopicDeadLetters)
	id := y.Bury(t, kafka.DeadLetter(event, h, time.Now()))
	var table, object, facts bytes.Buffer
	only := deadletters.Selection{Reason: schemas.ReasonVersionUnknown}
	if err := Table(t.Context(), y.Log, only, &table); err != nil {
		t.Fatal(err)
	}
	expect(t, table.String(), id.String(), "crm", "version_unknown", h.MessageID, "this release understands versions up to 2")
	if err := JSON(t.Context(), y.Log, only, &object); err != nil {
		t.Fatal(err)
	}
	expect(t, object.String(), `"reason":"version_unknown"`, `"messageId":"`+h.MessageID+`"`, `"unreadable":"decode dead-letters[`)
	if err := Show(t.Context(), y.Log, id, &facts); err != nil {
		t.Fatal(err)
	}
	expect(t, facts.String(), "tenant", "acme", "Signed Up")
}
