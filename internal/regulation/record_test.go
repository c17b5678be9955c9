package regulation

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
)

func TestNewRegulation(t *testing.T) {
	t.Parallel()
	for _, kind := range Types() {
		r := New(kind, 3, noon)
		if !schemas.ValidID(r.ID) || r.ID == New(kind, 3, noon).ID {
			t.Errorf("%s: id %q", kind, r.ID)
		}
		if final := r.Status.Final(); final == kind.Deletes() || final == r.FinishedAt.IsZero() {
			t.Errorf("%s begins as %s, finished at %s", kind, r.Status, r.FinishedAt)
		}
	}
}

func TestCreation(t *testing.T) {
	t.Parallel()
	tests := map[Type][]string{
		SuppressWithDelete: {"suppression/" + hashOf([]byte("u1")).String(), "regulation-subjects/ID-0", "regulation/ID"},
		DeleteOnly:         {"regulation-subjects/ID-0", "regulation/ID"},
		SuppressOnly:       {"suppression/" + hashOf([]byte("u1")).String(), "regulation/ID"},
		Unsuppress:         {"suppression/" + hashOf([]byte("u1")).String(), "regulation/ID"},
	}
	for kind, want := range tests {
		r := New(kind, 1, noon)
		records, err := creation(&r, []string{"u1"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, record := range records {
			keys = append(keys, strings.ReplaceAll(string(record.Key), r.ID, "ID"))
			if !kind.Deletes() && strings.Contains(string(record.Value), "u1") {
				t.Errorf("%s: the topic holds the user's id: %s", kind, record.Value)
			}
			if record.Topic != schemas.TopicRegulations {
				t.Errorf("%s: a record for %s", kind, record.Topic)
			}
		}
		if diff := cmp.Diff(want, keys); diff != "" {
			t.Errorf("%s: keys (-want +got):\n%s", kind, diff)
		}
		if removes := records[0].Value == nil; removes != (kind == Unsuppress) {
			t.Errorf("%s: the first record has the value %s", kind, records[0].Value)
		}
	}
}

// TestRecordsStayWithinTheBrokersLimit takes the worst that ids may be: each byte
// of them takes six in JSON.
func TestRecordsStayWithinTheBrokersLimit(t *testing.T) {
	t.Parallel()
	const limit = 1_000_000
	for name, users := range map[string][]string{
		"the longest ids":  slices.Repeat([]string{strings.Repeat("\x01", MaxSubjectBytes)}, 100),
		"the most of them": slices.Repeat([]string{strings.Repeat("<", 800)}, MaxSubjects),
		"short ones":       slices.Repeat([]string{"u"}, MaxSubjects),
	} {
		r := New(DeleteOnly, len(users), noon)
		records, err := creation(&r, users, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range records {
			if size := len(record.Key) + len(record.Value); size > limit {
				t.Errorf("%s: a record of %d bytes", name, size)
			}
		}
	}
}

func TestPartsHoldEveryIDInOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		users := make([]string, r.IntN(50))
		for i := range users {
			users[i] = strconv.Itoa(i) + strings.Repeat("x", r.IntN(MaxSubjectBytes))
		}
		var all []string
		for _, part := range parts(users) {
			if len(part) == 0 {
				t.Fatal("an empty part")
			}
			all = append(all, part...)
		}
		if !slices.Equal(all, users) {
			t.Fatalf("%d ids became %d, or another order", len(users), len(all))
		}
	}
}

// TestWhatIsStoredComesBack writes regulations of all kinds into a register and
// compares.
func TestWhatIsStoredComesBack(t *testing.T) {
	t.Parallel()
	for _, kind := range Types() {
		users := []string{"ä\n", strings.Repeat("<", maxPartBytes), strings.Repeat("x", maxPartBytes), "\"\\", "42"}
		r := New(kind, len(users), noon)
		r.Sources, r.Notified, r.Reason = []string{"website", "app"}, 2, "why \"so\""
		g := NewRegister(nil, nil)
		records, err := creation(&r, users, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range records {
			if _, known := g.Get(r.ID); known {
				t.Errorf("%s: known before all of it was read", kind)
			}
			if err := g.Apply(record.Key, record.Value); err != nil {
				t.Fatal(err)
			}
		}
		got, _ := g.Get(r.ID)
		if diff := cmp.Diff(r, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
		work, unfinished := g.Work(r.ID)
		if unfinished != kind.Deletes() || unfinished && (!work.Complete || !slices.Equal(work.Users, users)) {
			t.Errorf("%s: work %v, complete %v, %d users", kind, unfinished, work.Complete, len(work.Users))
		}
		for _, id := range users {
			if g.Suppressed.Has([]byte(id)) != kind.Suppresses() {
				t.Errorf("%s: %.10q suppressed: %v", kind, id, !kind.Suppresses())
			}
		}
	}
}

// FuzzApply feeds a register what other hands may have written: nothing that can't
// be read changes it, and no error tells what a value holds.
func FuzzApply(f *testing.F) {
	f.Add("regulation/a", []byte(`{"type":"DELETE_ONLY","status":"RUNNING","createdAt":"2026-11-21T12:00:00Z","subjects":2,"sources":["a"]}`))
	f.Add("regulation-subjects/a-0", []byte(`{"subjects":["canary"]}`))
	f.Add("regulation-subjects/a-00", []byte(`{"subjects":["canary"]}`))
	f.Add("regulation-run/a", []byte(`{"token":"t"}`))
	f.Add("suppression/00112233445566778899aabbccddeeff", []byte(`{}`))
	f.Add("suppression/00112233445566778899AABBCCDDEEFF", []byte(`{}`))
	f.Add("regulation/a/b", []byte(`{`))
	f.Add("regulations/a", []byte(nil))
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		g := NewRegister(nil, nil)
		before := g.Changed()
		err := g.Apply([]byte(key), value)
		select {
		case <-before:
			if err != nil {
				t.Fatalf("%q: changed by an error: %v", key, err)
			}
		default:
			if err == nil && !strings.HasPrefix(key, "suppression/") {
				t.Fatalf("%q: no change and no error", key)
			}
		}
		if err != nil && (len(g.Unfinished()) > 0 || g.Suppressed.Len() > 0) {
			t.Fatalf("%q: an error changed the register: %v", key, err)
		}
		if err != nil && len(value) > 8 && !strings.Contains(key, string(value)) && strings.Contains(err.Error(), string(value)) {
			t.Fatalf("the error quotes the value: %v", err)
		}
		for _, p := range g.Unfinished() {
			if _, ok := g.Work(p.ID); !ok {
				t.Fatalf("%s is unfinished and has no work", p.ID)
			}
		}
	})
}

func TestRefusedRecords(t *testing.T) {
	t.Parallel()
	good := `"status":"RUNNING","createdAt":"2026-11-21T12:00:00Z","subjects":2`
	for name, c := range map[string]struct{ key, value, want string }{
		"no hash":            {"suppression/u1", "{}", "expected suppression/<32 hexadecimal digits>"},
		"upper case":         {"suppression/00112233445566778899AABBCCDDEEFF", "{}", "32 hexadecimal digits"},
		"no kind of ours":    {"regulation-x/a", "{}", "expected one of the kinds"},
		"no id":              {"regulation/", "{}", "expected <kind>/<id>"},
		"a part unnumbered":  {"regulation-subjects/a", "{}", "expected <kind>/<id>"},
		"a part with a sign": {"regulation-subjects/a-+1", "{}", "expected <kind>/<id>"},
		"an unknown type":    {"regulation/a", `{"type":"FORGET",` + good + `}`, "type: expected one of [SUPPRESS_WITH_DELETE"},
		"an unknown status":  {"regulation/a", `{"type":"DELETE_ONLY","status":"PAUSED","createdAt":"2026-11-21T12:00:00Z"}`, "status: expected one of [INITIALIZED"},
		"too far":            {"regulation/a", `{"type":"DELETE_ONLY","notified":3,` + good + `}`, "notified: expected 0 to 2"},
		"too many":           {"regulation/a", `{"type":"DELETE_ONLY","status":"RUNNING","createdAt":"2026-11-21T12:00:00Z","subjects":5001}`, "subjects: expected 0 to 5000"},
		"no ids of sources":  {"regulation/a", `{"type":"DELETE_ONLY","sources":["A"],` + good + `}`, "sources: expected ids"},
		"no JSON":            {"regulation/a", `canary`, "expected a JSON object"},
		"a list of numbers":  {"regulation-subjects/a-0", `{"subjects":[7]}`, "expected a JSON object"},
		"a token of numbers": {"regulation-run/a", `{"token":7}`, "expected a JSON object"},
	} {
		err := NewRegister(nil, nil).Apply([]byte(c.key), []byte(c.value))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
