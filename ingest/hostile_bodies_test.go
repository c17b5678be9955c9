package ingest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// squeezed returns the gzip stream of what is written.
func squeezed(t *testing.T, write func(w io.Writer)) string {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	write(z)
	if err = z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// spaces is the gzip stream of that many megabytes of white space in front of a
// call.
func spaces(t *testing.T, megabytes int) string {
	t.Helper()
	return squeezed(t, func(w io.Writer) {
		megabyte := bytes.Repeat([]byte(" "), 1<<20)
		for range megabytes {
			w.Write(megabyte)
		}
		io.WriteString(w, oneCall)
	})
}

// allocated is how many bytes f allocates, in the whole process.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestGzipBombs(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	bomb := spaces(t, 50)
	for name, c := range map[string]struct {
		path, coding, body string
		status             int
	}{
		"of a call":           {"/v1/identify", "gzip", bomb, 400},
		"of a batch":          {"/v1/batch", "gzip", bomb, 413},
		"that does not say":   {"/v1/identify", "", bomb, 400},
		"in a bomb":           {"/v1/batch", "gzip", squeezed(t, func(w io.Writer) { io.WriteString(w, bomb) }), 400},
		"in a bomb, declared": {"/v1/batch", "gzip, gzip", squeezed(t, func(w io.Writer) { io.WriteString(w, bomb) }), 415},
		"of empty members":    {"/v1/batch", "gzip", strings.Repeat(squeezed(t, func(io.Writer) {}), 20_000), 400},
		"cut off":             {"/v1/batch", "gzip", bomb[:len(bomb)/2], 413},
		"with other bytes":    {"/v1/batch", "gzip", "\x1f\x8b\x08\x00" + strings.Repeat("\xff", 1000), 400},
	} {
		var got reply
		cost := allocated(func() {
			got = s.post(t, c.path, c.body, with("Content-Encoding", c.coding))
		})
		if got.status != c.status {
			t.Errorf("%s: got %d %s, want %d", name, got.status, got.body, c.status)
		}
		if most := uint64(8 << 20); cost > most {
			t.Errorf("%s: %d bytes were allocated", name, cost)
		}
	}
	s.stored(t, 0)
	s.sound(t)
}

// nested is a call with arrays or objects in each other, in all deep levels.
func nested(begin, end string, deep int) string {
	const around = 2 // the call and its traits
	return `{"userId":"u","messageId":"m","traits":{"v":` + strings.Repeat(begin, deep-around) + "0" + strings.Repeat(end, deep-around) + `}}`
}

func TestNesting(t *testing.T) {
	const deepest = 512
	s := start(t, testkit.Brokers(t))
	for name, c := range map[string]struct {
		body   string
		status int
	}{
		"arrays at the limit":   {nested("[", "]", deepest), 200},
		"arrays beyond":         {nested("[", "]", deepest+1), 400},
		"objects at the limit":  {nested(`{"a":`, "}", deepest), 200},
		"objects beyond":        {nested(`{"a":`, "}", deepest+1), 400},
		"as deep as there fit":  {nested("[", "]", 16_000), 400},
		"that never ends":       {nested("[", "", 30_000), 400},
		"ends without a start":  {nested("", "]", 30_000), 400},
		"of a key that is late": {`{"traits":{"v":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `},"userId":"u"}`, 400},
	} {
		if got := s.post(t, "/v1/identify", c.body); got.status != c.status {
			t.Errorf("%s: got %d %s", name, got.status, got.body)
		}
	}
	s.stored(t, 2)
	s.sound(t)
}

// TestOneTreatmentOfStrangeText sends what parsers of JSON differ in. A stage
// behind must never see another value than the one that was judged here.
func TestOneTreatmentOfStrangeText(t *testing.T) {
	record := func(key, id, text string) []string {
		return []string{key + ` source=website type=identify message-id=` + id + ` origin=api ` + text}
	}
	exchangeAll(t, []exchange{
		{
			name: "an id twice", path: "/v1/i", body: `{"userId":"first","messageId":"m","userId":"last"}`,
			stored: record("last", "m", `{"userId":"last","messageId":"m","type":"identify",`+tail),
		},
		{
			name: "an id twice, by an escape", path: "/v1/i", body: `{"userId":"first","messageId":"m","user\u0049d":"last"}`,
			stored: record("last", "m", `{"userId":"last","messageId":"m","type":"identify",`+tail),
		},
		{
			name: "an id that is taken back", path: "/v1/i", body: `{"userId":"u","messageId":"m","anonymousId":"n","userId":null}`,
			stored: record("n", "m", `{"messageId":"m","anonymousId":"n","type":"identify",`+tail),
		},
		{
			name: "another case", path: "/v1/i", body: `{"userId":"u","messageId":"m","USERID":"v"}`,
			stored: record("u", "m", `{"userId":"u","messageId":"m","USERID":"v","type":"identify",`+tail),
		},
		{
			name: "a type against the path", path: "/v1/i", body: `{"userId":"u","messageId":"m","type":"track"}`,
			stored: record("u", "m", `{"userId":"u","messageId":"m","type":"identify",`+tail),
		},
		{
			name: "two batches", path: "/v1/b", body: `{"batch":[{"type":"identify","userId":"first","messageId":"1"}],"batch":[{"type":"identify","userId":"last","messageId":"2"}]}`,
			stored: record("last", "2", `{"type":"identify","userId":"last","messageId":"2",`+tail),
		},
		{
			name: "invalid UTF-8", path: "/v1/i", body: "{\"userId\":\"u\xff\",\"messageId\":\"m\",\"traits\":{\"\xc0\xaf\":\"\xed\xa0\x80\"}}",
			stored: record("u\ufffd", "m", "{\"userId\":\"u\ufffd\",\"messageId\":\"m\",\"traits\":{\"\ufffd\ufffd\":\"\ufffd\ufffd\ufffd\"},\"type\":\"identify\","+tail),
		},
		{
			name: "halves of surrogates", path: "/v1/i", body: `{"userId":"u\ud800","messageId":"m","traits":{"v":"\udc00\ud83d\ude00"}}`,
			stored: record("u\ufffd", "m", "{\"userId\":\"u\ufffd\",\"messageId\":\"m\",\"traits\":{\"v\":\"\ufffd\U0001f600\"},\"type\":\"identify\","+tail),
		},
		{
			name: "a NUL", path: "/v1/i", body: `{"userId":"u\u0000v","messageId":"m"}`,
			stored: record("u\x00v", "m", `{"userId":"u\u0000v","messageId":"m","type":"identify",`+tail),
		},
		{
			name: "numbers beyond all bounds", path: "/v1/i", body: `{"userId":"u","messageId":"m","traits":{"a":1e999999999,"b":-0,"c":` + strings.Repeat("9", 400) + `,"d":1e-999999999}}`,
			stored: record("u", "m", `{"userId":"u","messageId":"m","traits":{"a":null,"b":0,"c":null,"d":0},"type":"identify",`+tail),
		},
	})
}

// TestMoreAfterTheEnd sends good calls with something behind them.
func TestMoreAfterTheEnd(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	for _, more := range []string{"{}", oneCall, "]", "}", ",", "\x00", "x", "\ufeff", `"`, "/**/", "\u00a0"} {
		if got := s.post(t, "/v1/identify", oneCall+more); got.status != 400 || !strings.Contains(got.body, `"code":"invalid_json"`) {
			t.Errorf("%q: got %d %s", more, got.status, got.body)
		}
	}
	for _, space := range []string{" ", "\n", "\r\n\t"} {
		if got := s.post(t, "/v1/identify", oneCall+space); got.body != success {
			t.Errorf("%q: got %d %s", space, got.status, got.body)
		}
	}
	s.stored(t, 3)
}

// TestManyKeys has objects with as many keys as there fit: looking for duplicates
// must not take the square of their number.
func TestManyKeys(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	keys := func(n int, same bool) string {
		var b strings.Builder
		for i := range n {
			if same {
				i = 0
			}
			fmt.Fprintf(&b, `"%d":0,`, 100_000+i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	call := func(n int, same bool) string {
		return `{"type":"identify","userId":"u","messageId":"m","traits":{` + keys(n, same) + `}}`
	}
	for name, body := range map[string]string{
		"of calls":       `{"batch":[` + strings.TrimSuffix(strings.Repeat(call(2900, false)+",", 15), ",") + `]}`,
		"all the same":   `{"batch":[` + strings.TrimSuffix(strings.Repeat(call(2900, true)+",", 15), ",") + `]}`,
		"of the context": `{"context":{` + keys(45_000, false) + `},"batch":[` + call(1, false) + `]}`,
		"of the batch":   `{` + keys(45_000, false) + `,"batch":[` + call(1, false) + `]}`,
	} {
		if got := s.post(t, "/v1/batch", body); got.status != http.StatusOK {
			t.Errorf("%s: %d bytes: got %d %.200s", name, len(body), got.status, got.body)
		}
	}
	s.cluster.ReadAll(t, schemas.TopicRawEvents, 32)
	s.sound(t)
}
