package regulation

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestUnderAKey: what the topic holds tells nobody without the key who is suppressed.
func TestUnderAKey(t *testing.T) {
	t.Parallel()
	keys := keysOf(t, "1")
	writer := NewRegister(keys, nil)
	r := New(SuppressOnly, 1, noon)
	records, err := creation(&r, []string{"u1"}, &writer.Suppressed)
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range records {
		if strings.Contains(string(record.Key), hashOf([]byte("u1")).String()) {
			t.Errorf("%s has the hash without a key", record.Key)
		}
	}
	for name, c := range map[string]struct {
		keys *Keys
		want bool
	}{
		"the key": {keys, true}, "a rotation": {keysOf(t, "21"), true}, "another key": {keysOf(t, "2"), false}, "no key": {nil, false},
	} {
		var told []string
		g := NewRegister(c.keys, func(key string) { told = append(told, key) })
		apply(t, g, records...)
		apply(t, g, records...)
		if got := g.Suppressed.Has([]byte("u1")); got != c.want || g.Suppressed.Has([]byte("u2")) {
			t.Errorf("%s: suppressed %v, want %v", name, got, c.want)
		}
		missing, users := g.Suppressed.Missing()
		if c.want != (users == 0) || c.want != (len(told) == 0) || !c.want && !slices.Equal(told, keys.IDs()) || !slices.Equal(missing, told) {
			t.Errorf("%s: %d users under %v are missing, told of %v", name, users, missing, told)
		}
	}
}

// TestAKeyIsMissedOnceAllIsRead: what was rewritten under another key is still in a log
// that nobody compacts.
func TestAKeyIsMissedOnceAllIsRead(t *testing.T) {
	t.Parallel()
	writer := NewRegister(keysOf(t, "1"), nil)
	suppress, release := New(SuppressOnly, 1, noon), New(Unsuppress, 1, noon)
	log, err := creation(&suppress, []string{"u1"}, &writer.Suppressed)
	if err != nil {
		t.Fatal(err)
	}
	gone, err := creation(&release, []string{"u1"}, &writer.Suppressed)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	g := NewRegister(keysOf(t, "2"), func(string) { told++ })
	read := func(records ...*kgo.Record) {
		take, finish := g.Renew()
		for _, r := range records {
			if err := take(r.Key, r.Value); err != nil {
				t.Fatal(err)
			}
		}
		finish()
	}
	read(append(log, gone...)...)
	if told != 0 {
		t.Error("a key was missed that nobody is suppressed under")
	}
	read(log...)
	if told != 1 {
		t.Errorf("told %d times of a key that is missing", told)
	}
}

// TestEachRequestLeavesOneAlias: who was suppressed without a key, or under an earlier
// one, and is suppressed again, has one record left, and none once accepted again.
func TestEachRequestLeavesOneAlias(t *testing.T) {
	t.Parallel()
	g := NewRegister(keysOf(t, "21"), nil)
	var none *Suppressed
	before := NewRegister(keysOf(t, "1"), nil)
	ask := func(kind Type, by *Suppressed) {
		r := New(kind, 1, noon)
		records, err := creation(&r, []string{"u1"}, by)
		if err != nil {
			t.Fatal(err)
		}
		apply(t, g, records...)
	}
	ask(SuppressOnly, none)
	ask(SuppressOnly, &before.Suppressed)
	if g.Suppressed.Len() != 2 {
		t.Fatalf("%d aliases, want 2", g.Suppressed.Len())
	}
	ask(SuppressOnly, &g.Suppressed)
	if by := g.Suppressed.ByKey(); len(by) != 1 || by[g.keys.IDs()[0]] != 1 {
		t.Errorf("suppressed again: %v, want one under the current key", by)
	}
	ask(SuppressOnly, none)
	ask(SuppressOnly, &before.Suppressed)
	ask(Unsuppress, &g.Suppressed)
	if by := g.Suppressed.ByKey(); len(by) != 0 || g.Suppressed.Has([]byte("u1")) {
		t.Errorf("accepted again: %v", by)
	}
}

// TestRekeying: users who pass by are written under the current key, and nobody else is.
func TestRekeying(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topics(t, c)
	old := follow(t, c)
	store(t, ledger(c), old, SuppressOnly, "u1", "u2", "u3")
	keys := keysOf(t, "1")
	g := followWith(t, c, keys)
	l := ledger(c)
	l.Register = g
	if n, err := l.Rekey(t.Context()); n != 0 || err != nil {
		t.Fatalf("nobody has passed by: %d, %v", n, err)
	}
	store(t, l, g, SuppressOnly, "u4")
	for _, id := range []string{"u1", "u2", "u4", "u5"} {
		g.Suppressed.Has([]byte(id))
	}
	store(t, l, g, Unsuppress, "u2") // between the sight of the user and the record
	if n, err := l.Rekey(t.Context()); n != 1 || err != nil {
		t.Fatalf("rekeyed %d users, %v; want 1", n, err)
	}
	testkit.Until(t, func() bool { return g.Suppressed.ByKey()[keys.IDs()[0]] == 2 }, "the new record to come back")
	for name, r := range map[string]*Register{"running": g, "fresh": followWith(t, c, keys)} {
		for id, want := range map[string]bool{"u1": true, "u2": false, "u3": true, "u4": true, "u5": false} {
			if r.Suppressed.Has([]byte(id)) != want {
				t.Errorf("%s: %s is suppressed: %v", name, id, !want)
			}
		}
		if by := r.Suppressed.ByKey(); by[""] != 1 || by[keys.IDs()[0]] != 2 {
			t.Errorf("%s: users by key: %v", name, by)
		}
	}
}

// TestARekeyingThatIsTooLate loses against a request that accepts the user again, which
// stands between what it read and what it would write.
func TestARekeyingThatIsTooLate(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topics(t, c)
	keys := keysOf(t, "1")
	g := followWith(t, c, keys)
	slow, quick := ledger(c), ledger(c)
	slow.Register, quick.Register = g, g
	store(t, slow, g, SuppressOnly, "u1")
	err := slow.sole(t.Context(), func() ([]*kgo.Record, error) {
		store(t, quick, g, Unsuppress, "u1")
		record, err := newRecord(kindSuppression, g.Suppressed.current([]byte("u1")).String(), suppressionRecord{})
		return []*kgo.Record{record}, err
	})
	if !errors.Is(err, ErrTakenOver) {
		t.Errorf("the one that came too late was told: %v", err)
	}
	store(t, quick, g, SuppressOnly, "u2") // stands behind whatever was written
	if g.Suppressed.Has([]byte("u1")) {
		t.Error("u1 is suppressed again")
	}
	// A request that was fenced goes on by itself.
	store(t, slow, g, Unsuppress, "u2")
	if g.Suppressed.Has([]byte("u2")) {
		t.Error("u2 is still suppressed")
	}
}

// FuzzAlias holds the parser to one text for each alias.
func FuzzAlias(f *testing.F) {
	hash := hashOf([]byte("u")).String()
	for _, text := range []string{hash, "0102030a." + hash, "0102030A." + hash, "." + hash, "01." + hash, "0102030a." + hash + "0", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if a, ok := parseAlias(text); ok && a.String() != text {
			t.Errorf("%q is read as %q", text, a)
		}
	})
}

func TestNoKeys(t *testing.T) {
	t.Parallel()
	if keys, err := ParseKeys(schemas.Secret(" ")); keys != nil || err != nil || keys.IDs() != nil {
		t.Errorf("of nothing: %v, %v", keys, err)
	}
	if _, err := ParseKeys("correct-horse"); err == nil || strings.Contains(err.Error(), "horse") {
		t.Errorf("of no key: %v", err)
	}
}
