//go:build go1.26

package analytics_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/anabranch/anabranch/analytics"
)

// A message is written as version 2 wrote it, whichever names it was made with.
func TestMessagesAsJSON(t *testing.T) {
	at := time.Date(2026, 11, 22, 8, 30, 0, 5e6, time.FixedZone("", 3600))
	common := analytics.Message{Type: "track", MessageId: "m", Timestamp: "2026-11-22", SentAt: "2026-11-23"}
	for want, call := range map[string]any{
		`{"traits":{"a":1},"userId":"u","messageId":"m","timestamp":"2026-11-22T08:30:00.005+01:00"}`:                                         analytics.Identify{UserId: "u", Traits: map[string]any{"a": 1}, MessageId: "m", Time: at},
		`{"context":{"c":1},"integrations":{"All":false},"properties":{"a":1},"userId":"u","event":"e","messageId":"own","timestamp":"2026"}`: analytics.Track{UserId: "u", Event: "e", Properties: map[string]any{"a": 1}, Context: map[string]any{"c": 1}, Integrations: map[string]any{"All": false}, MessageId: "own", Timestamp: "2026", Time: at},
		`{"userId":"u","event":"e","type":"track","messageId":"m","timestamp":"2026-11-22","sentAt":"2026-11-23"}`:                            &analytics.Track{UserId: "u", Event: "e", Message: common},
		`{"userId":"u","event":"e","type":"track","messageId":"own","timestamp":"2026-11-22","sentAt":"2026-11-23"}`:                          &analytics.Track{UserId: "u", Event: "e", MessageId: "own", Message: common},
		`{"properties":{"a":1,"b":2},"userId":"u","category":"c","name":"n"}`:                                                                 analytics.Page{UserId: "u", Category: "c", Name: "n", Traits: map[string]any{"a": 0, "b": 2}, Properties: map[string]any{"a": 1}},
		`{"properties":{"a":1},"anonymousId":"x","name":"n"}`:                                                                                 analytics.Screen{AnonymousId: "x", Name: "n", Traits: map[string]any{"a": 1}},
		`{"userId":"u","groupId":"g"}`:                    &analytics.Group{UserId: "u", GroupId: "g"},
		`{"previousId":"p","userId":"u","messageId":"m"}`: analytics.Alias{UserId: "u", PreviousId: "p", MessageId: "m"},
		`{"event":"e","list":[{"properties":{"a":1},"userId":"u"}]}`: struct {
			Event string           `json:"event"`
			List  []analytics.Page `json:"list"`
		}{"e", []analytics.Page{{UserId: "u", Properties: map[string]any{"a": 1}}}},
	} {
		got, err := json.Marshal(call)
		if err != nil || string(got) != want {
			t.Errorf("got  %s, %v\nwant %s", got, err, want)
		}
	}
}

// What was written and read again is sent as what it was.
func TestMessagesThroughJSON(t *testing.T) {
	direct, directServer := dial(t)
	through, throughServer := dial(t)
	for name, call := range everyMember() {
		if name == "least" { // has a random id
			continue
		}
		text, err := json.Marshal(call)
		if err != nil {
			t.Fatal(err)
		}
		again := reflect.New(reflect.TypeOf(call).Elem())
		if err := json.Unmarshal(text, again.Interface()); err != nil {
			t.Fatal(err)
		}
		for client, c := range map[*analytics.Client]analytics.Call{direct: call, through: again.Interface().(analytics.Call)} {
			if err := client.Enqueue(t.Context(), c); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	closed(t, direct)
	closed(t, through)
	if got, want := throughServer.messages(), directServer.messages(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// Programs read what they have unmarshalled under either name.
func TestUnmarshalledNames(t *testing.T) {
	var page analytics.Page
	if err := json.Unmarshal([]byte(`{"messageId":"m","timestamp":"2026","properties":{"a":1}}`), &page); err != nil {
		t.Fatal(err)
	}
	if page.MessageId != "m" || page.Message.MessageId != "m" || page.Timestamp != "2026" || page.Traits["a"] != 1.0 || page.Properties["a"] != 1.0 {
		t.Errorf("%+v", page)
	}
	if err := json.Unmarshal([]byte(`{"userId":1}`), &page); err == nil {
		t.Error("a number for a userId")
	}
}

// A time may be a time.Time; a text goes before it. What the server could not read is
// refused in the call.
func TestTimes(t *testing.T) {
	client, server := dial(t)
	at := time.Date(2026, 11, 22, 8, 30, 0, 5e6, time.FixedZone("", 3600))
	for _, m := range []*analytics.Track{{Time: at}, {Time: at, Timestamp: "2026-11-21"}, {Time: at, Message: analytics.Message{Timestamp: "2026-11-20"}}} {
		m.UserId, m.Event = "u", "e"
		if err := client.Track(m); err != nil {
			t.Error(err)
		}
	}
	for _, m := range []*analytics.Track{{Timestamp: "yesterday"}, {Message: analytics.Message{Timestamp: "2026-02-30"}}, {Time: at.AddDate(8000, 0, 0)}} {
		m.UserId, m.Event = "u", "e"
		err := client.Track(m)
		if e, ok := errors.AsType[*analytics.EncodeError](err); !ok || e.Path != "timestamp" {
			t.Errorf("%+v: %v", m, err)
		}
	}
	closed(t, client)
	var got []any
	for _, m := range server.messages() {
		got = append(got, m["timestamp"])
	}
	if want := []any{"2026-11-22T07:30:00.005Z", "2026-11-21", "2026-11-20"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
