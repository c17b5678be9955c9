package ingest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// padded is a call of exactly n bytes.
func padded(n int) string {
	const head, foot = `{"type":"identify","userId":"u","messageId":"m","traits":{"pad":"`, `"}}`
	return head + strings.Repeat("x", n-len(head)-len(foot)) + foot
}

// paddedBatch is a batch of one small call, of exactly n bytes.
func paddedBatch(n int) string {
	const head, foot = `{"batch":[{"type":"identify","userId":"u","messageId":"m"}],"pad":"`, `"}`
	return head + strings.Repeat("x", n-len(head)-len(foot)) + foot
}

func batchOf(n int) string {
	calls := strings.Repeat(`{"type":"identify","userId":"u"},`, n)
	return `{"batch":[` + strings.TrimSuffix(calls, ",") + `]}`
}

// chunked hides the length of the body.
func chunked(r *http.Request) {
	r.ContentLength = -1
	r.Body = io.NopCloser(io.MultiReader(r.Body))
}

func TestLimitsToTheByte(t *testing.T) {
	id := strings.Repeat("ü", 100)
	s := start(t, testkit.Brokers(t))
	events := 0
	for _, c := range []struct {
		name, path, body string
		status           int
		answer           string // a part of it
		stored           int
	}{
		{"call at its limit", "/v1/identify", padded(32_768), 200, success, 1},
		{"call beyond", "/v1/identify", padded(32_769), 400, `"code":"too_large","message":"the body is longer than 32768 bytes: leave large values out of the call"`, 0},
		{"white space counts", "/v1/identify", padded(32_768) + " ", 400, `"code":"too_large"`, 0},
		{"call far beyond", "/v1/identify", padded(600_000), 400, `"code":"too_large"`, 0},
		{"call in a batch at its limit", "/v1/batch", `{"batch":[ ` + padded(32_768) + ` ]}`, 200, success, 1},
		{"call in a batch beyond", "/v1/batch", `{"batch":[` + padded(32_769) + `,` + padded(100) + `]}`, 200, `"rejected":[{"index":0,"messageId":"m","code":"too_large","message":"the call is longer than 32768 bytes"}]`, 1},
		{"batch at its limit", "/v1/batch", paddedBatch(512_000), 200, success, 1},
		{"batch beyond", "/v1/batch", paddedBatch(512_001), 413, `"code":"too_large","message":"the body is longer than 512000 bytes: send fewer calls at a time"`, 0},
		{"batch far beyond", "/v1/batch", paddedBatch(2_000_000), 413, `"code":"too_large"`, 0},
		{"events at their limit", "/v1/batch", batchOf(2500), 200, success, 2500},
		{"events beyond", "/v1/batch", batchOf(2501), 400, `"code":"too_many_events","message":"the batch has more than 2500 events"`, 0},
		{"messageId at its limit", "/v1/identify", `{"userId":"u","messageId":"` + id + `"}`, 200, success, 1},
		{"messageId beyond", "/v1/identify", `{"userId":"u","messageId":"` + id + `x"}`, 400, `"code":"too_large","message":"messageId: expected at most 100 characters"`, 0},
		{"messageId beyond, in a batch", "/v1/batch", `{"batch":[{"type":"identify","userId":"u","messageId":"` + id + `x"},` + padded(100) + `]}`, 200, `"rejected":[{"index":0,"messageId":"` + id + `","code":"too_large"`, 1},
	} {
		for how, options := range map[string][]func(*http.Request){"with a length": nil, "chunked": {chunked}} {
			got := s.post(t, c.path, c.body, options...)
			if got.status != c.status || !strings.Contains(got.body, c.answer) {
				t.Errorf("%s, %s: got %d %.200s\nwant %d …%s…", c.name, how, got.status, got.body, c.status, c.answer)
			}
			events += c.stored
		}
	}
	s.stored(t, events)
}

// TestALargerBatchMayBeAllowed sends what clients for other servers send. The
// limit of one call stays.
func TestALargerBatchMayBeAllowed(t *testing.T) {
	s := start(t, testkit.Brokers(t), func(c *Config) { c.MaxBatchBytes = 1_000_000 })
	for body, want := range map[string]int{
		paddedBatch(1_000_000):           200,
		paddedBatch(1_000_001):           413,
		compress(paddedBatch(1_000_000)): 200,
		compress(paddedBatch(1_000_001)): 413,
	} {
		if got := s.post(t, "/v1/batch", body); got.status != want {
			t.Errorf("%d bytes: got %d %.200s", len(body), got.status, got.body)
		}
	}
	if got := s.post(t, "/v1/identify", padded(32_769)); got.status != 400 {
		t.Errorf("a call: got %d %.200s", got.status, got.body)
	}
	s.stored(t, 2)
}

// TestMergingIsBounded walks the three ways in which a body within all limits
// could become more than can be stored.
func TestMergingIsBounded(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	pad := func(n int) string { return strings.Repeat("x", n) }
	call := `{"type":"identify","userId":"u","messageId":"m"}`
	calls := func(n int) string { return strings.TrimSuffix(strings.Repeat(call+",", n), ",") }

	got := s.post(t, "/v1/batch", `{"batch":[`+calls(2500)+`],"context":{"a":"`+pad(200_000)+`"}}`)
	if got.status != 400 || !strings.Contains(got.body, `"code":"too_large","message":"with its context in each event the batch is longer than 8388608 bytes`) {
		t.Errorf("context in 2,500 calls: got %d %.300s", got.status, got.body)
	}
	// 1e20 has 4 bytes in the body and 21 in the stored form.
	grown := strings.TrimSuffix(strings.Repeat("1e20,", 60_000), ",")
	got = s.post(t, "/v1/batch", `{"batch":[`+calls(100)+`],"context":{"a":[`+grown+`]}}`)
	if got.status != 400 || strings.Count(got.body, `"code":"too_large"`) != 101 {
		t.Errorf("a context of more than a record: got %d %.300s", got.status, got.body)
	}
	got = s.post(t, "/v1/batch", `{"batch":[`+call+`],"integrations":{"a":"`+pad(schemas.MaxIntegrationsBytes)+`"}}`)
	if got.status != 400 || !strings.Contains(got.body, `"message":"integrations: expected at most 32768 bytes"`) {
		t.Errorf("integrations: got %d %.300s", got.status, got.body)
	}
	got = s.post(t, "/v1/batch", `{"batch":[`+calls(30)+`],"context":{"a":"`+pad(200_000)+`"}}`)
	if got.body != success {
		t.Errorf("a large context in few calls: got %d %.300s", got.status, got.body)
	}
	s.stored(t, 30)
}

// TestALargestRecordIsStored shows that the bound of a record lies below the
// brokers'.
func TestALargestRecordIsStored(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	const call = `{"type":"identify","userId":"u","messageId":"m","integrations":{"a":"%s"}}`
	body := func(numbers int) string {
		context := strings.TrimSuffix(strings.Repeat("1e20,", numbers), ",")
		return `{"batch":[` + fmt.Sprintf(call, strings.Repeat("x", 32_000)) + `],"context":{"a":[` + context + `]}}`
	}
	const maxRecordBytes = 900 << 10
	const most = (maxRecordBytes - 2*32_000 - 400) / 22
	if got := s.post(t, "/v1/batch", body(most)); got.body != success {
		t.Errorf("just below the bound: got %d %s", got.status, got.body)
	}
	if got := s.post(t, "/v1/batch", body(most+40)); got.status != 400 || !strings.Contains(got.body, `with the batch's context the call is longer than 921600 bytes`) {
		t.Errorf("just above the bound: got %d %s", got.status, got.body)
	}
	if texts := s.stored(t, 1); len(texts[0]) < maxRecordBytes-1000 {
		t.Errorf("stored a record of %d bytes", len(texts[0]))
	}
}
