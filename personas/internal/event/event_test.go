package event_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/personas/internal/event"
	"github.com/anabranch/anabranch/schemas"
)

var received = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func TestParse(t *testing.T) {
	t.Parallel()
	headers := &schemas.Headers{Type: schemas.TypeTrack, Source: "web", MessageID: "h", Origin: schemas.OriginAPI}
	const text = `{"event":"A \"b\"","userId":"null","anonymousId":"x","messageId":"v","properties":{"a":{"b":"}\\"},"c":[1,{"d":"]"}]},` +
		`"timestamp":"2026-11-22T11:59:59.123Z","context":{"a":{"b":7}},"name":"no"}`
	var call event.Call
	call.Offset = 7
	if err := event.Parse(&call, []byte(text), headers, received); err != nil {
		t.Fatal(err)
	}
	if call.Name != `A "b"` || call.UserID != "" || call.AnonymousID != "x" || call.MessageID != "h" || call.Source != "web" || call.Offset != 7 || call.Own || call.Future {
		t.Errorf("%+v", call)
	}
	if want := received.Add(-877 * time.Millisecond); !call.At.Equal(want) {
		t.Errorf("at %v, expected %v", call.At, want)
	}
	for path, want := range map[string]string{"a": `{"b":"}\\"}`, "c": `[1,{"d":"]"}]`, "d": ""} {
		if got := string(event.OfCall([]string{path}).Find(&call)); got != want {
			t.Errorf("%s is %s, expected %s", path, got, want)
		}
	}
	if got := string(event.OfCall([]string{"context", "a", "b"}).Find(&call)); got != "7" {
		t.Errorf("context.a.b is %s", got)
	}
}

// No event happens after it was taken in, and one without a time that can be read happens
// then.
func TestTimes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		`"2026-11-22T12:00:00.001Z"`: 0, `"2026-11-22T12:00:00.000Z"`: 0, `"2026-11-22T11:59:59.999Z"`: -time.Millisecond,
		`"2026-11-22T13:59:59+02:00"`: -time.Second, `"2026-11-22"`: -12 * time.Hour, `"2026-02-30T00:00:00.000Z"`: 0,
		`"2026-11-21T25:00:00.000Z"`: 0, `"yesterday"`: 0, `7`: 0, `null`: 0, `"2026-11-22T11:59"`: -time.Minute, `"2026-11-22 11:59:00"`: -time.Minute,
	} {
		var call event.Call
		if err := event.Parse(&call, []byte(`{"timestamp":`+text+`}`), nil, received); err != nil || call.At.Sub(received) != want {
			t.Errorf("%s: %v, %v, expected %v", text, call.At.Sub(received), err, want)
		}
	}
}

// Nor after ingest took it, which what is imported says itself, wherever its time stamp
// stands in it.
func TestAnImportedCallHappenedBeforeItWasReceived(t *testing.T) {
	t.Parallel()
	took := received.AddDate(-6, 0, 0)
	for text, want := range map[string]struct {
		at     time.Time
		future bool
	}{
		`{"timestamp":"2021-01-01T00:00:00.000Z","receivedAt":"2020-11-22T12:00:00.000Z"}`: {took, true},
		`{"receivedAt":"2020-11-22T12:00:00.000Z","timestamp":"2021-01-01T00:00:00.000Z"}`: {took, true},
		`{"receivedAt":"2020-11-22T12:00:00.000Z","timestamp":"2020-11-22T11:59:59.000Z"}`: {took.Add(-time.Second), false},
		`{"receivedAt":"2020-11-22T12:00:00.000Z"}`:                                        {took, false},
		`{"receivedAt":"2120-11-22T12:00:00.000Z"}`:                                        {received, false},
		`{"receivedAt":7,"timestamp":"2120-11-22T12:00:00.000Z"}`:                          {received, true},
	} {
		var call event.Call
		err := event.Parse(&call, []byte(text), nil, received)
		if err != nil || !call.At.Equal(want.at) || call.Future != want.future || !call.Received.Equal(received) {
			t.Errorf("%s: at %v, of the future %v, received %v, %v, expected %v", text, call.At, call.Future, call.Received, err, want)
		}
	}
}

func TestWhatPersonasSaysIsItsOwn(t *testing.T) {
	t.Parallel()
	for origin, want := range map[schemas.Origin]bool{schemas.OriginAPI: false, schemas.OriginReplay: false, schemas.OriginPersonas: true, schemas.OriginDeletion: true} {
		var call event.Call
		if err := event.Parse(&call, []byte(`{}`), &schemas.Headers{Origin: origin}, received); err != nil || call.Own != want {
			t.Errorf("%s: %v, %v", origin, call.Own, err)
		}
	}
}

// FuzzParse: no bytes do harm, and of what is stable JSON the same is found as by
// encoding/json.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"userId":"a","properties":{"p":{"q":"\u0001"}}}`, `{"properties":{"p":[}`, `{"a":"\`, `[]`, `{"properties":{"p":{"q":1,"q":2}}}`} {
		f.Add([]byte(seed))
	}
	of := event.OfCall([]string{"p", "q"})
	f.Fuzz(func(t *testing.T, text []byte) {
		var call event.Call
		err := event.Parse(&call, text, nil, received)
		event.ValueOf(of.Find(&call))
		if err != nil && !errors.Is(err, event.ErrNoObject) {
			t.Fatal(err)
		}
		stable, err := stablejson.Append(nil, text)
		if err != nil || event.Parse(&call, stable, nil, received) != nil {
			return
		}
		var want struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		var p map[string]json.RawMessage
		if json.Unmarshal(stable, &want) != nil || json.Unmarshal(want.Properties["p"], &p) != nil || call.Properties == nil {
			return
		}
		if q := string(p["q"]); q != "null" && q != string(of.Find(&call)) {
			t.Errorf("%s: found %s, expected %s", stable, of.Find(&call), q)
		}
	})
}
