package emit

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/schematest"
)

func TestCalls(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 3, 4, 5, 6e6, time.FixedZone("", 3600))
	change := engine.Change{Class: engine.ClassAudience, Key: "2026", ID: "2026", Version: 3, Member: true, At: at, Cause: engine.CauseTimer, Seq: 7}
	value := engine.Change{Class: engine.ClassComputedTrait, Key: "orders", ID: "orders", Version: 1, Value: []byte("[1]"), At: at, Cause: engine.CauseEvent, Seq: 8}
	for name, c := range map[string]struct {
		user   User
		change engine.Change
		tell   Telling
		want   []string // in the value of each call
	}{
		"an audience by identify": {User{ID: "ü\n"}, change, Telling{By: definition.SendIdentify}, []string{`"userId":"ü\n","traits":{"2026":true},"timestamp":"2026-11-22T02:04:05.006Z"`}},
		"by both": {User{"a", true}, change, Telling{By: definition.SendBoth, Only: []string{"crm", "mail"}}, []string{
			`"anonymousId":"a","traits":{`, `"event":"Audience Entered","properties":{"2026":true,"audience_key":"2026"}`,
		}},
		"a trait by track": {User{ID: "u"}, value, Telling{By: definition.SendTrack, Only: []string{"crm"}, Again: "x"}, []string{
			`"event":"Trait Computed","properties":{"orders":[1],"trait_key":"orders"}`,
		}},
		"a trait": {User{ID: "u"}, value, Telling{By: definition.SendIdentify}, []string{
			`"context":{"personas":{"computation_class":"computed_trait","computation_key":"orders","computation_id":"orders","version":1,"cause":"event"}}}`,
		}},
	} {
		records := Records(c.user, &c.change, c.tell)
		if len(records) != len(c.want) {
			t.Fatalf("%s: %d calls", name, len(records))
		}
		for i, rec := range records {
			h, err := kafka.HeadersOf(rec)
			if err != nil || h.Source != Source || h.Origin != schemas.OriginPersonas || string(rec.Key) != c.user.ID {
				t.Errorf("%s: key %q, headers %v: %v", name, rec.Key, h, err)
			}
			if !slices.Equal(h.Only, c.tell.Only) {
				t.Errorf("%s: for %v, want %v", name, h.Only, c.tell.Only)
			}
			if err = schematest.CheckEvent(rec.Value); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			stable, err := stablejson.Append(nil, rec.Value)
			if err != nil || string(stable) != string(rec.Value) || !strings.Contains(string(rec.Value), c.want[i]) {
				t.Errorf("%s: %s\nstable: %s, want %s", name, rec.Value, stable, c.want[i])
			}
		}
	}
	tell := Telling{By: definition.SendIdentify}
	first, again := Records(User{ID: "u"}, &change, tell)[0], Records(User{ID: "u"}, &change, tell)[0]
	change.Seq++
	if next := Records(User{ID: "u"}, &change, tell)[0]; string(first.Value) != string(again.Value) || string(next.Value) == string(first.Value) {
		t.Error("a message id is for one change, whenever it is told")
	}
}
