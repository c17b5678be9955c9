package ask

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// open is a shop with the stage running, after a while of traffic.
func open(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, testkit.Virtual(t), shop(t))
	b.start(t)
	virtual.Sleep(3 * time.Second)
	r := rand.New(rand.NewPCG(1, 2))
	for range 120 {
		user := fmt.Sprintf("user-%02d", r.IntN(20))
		switch r.IntN(6) {
		case 0:
			b.send(t, b.identify(user, fmt.Sprintf(`{"plan":%q}`, []string{"free", "pro"}[r.IntN(2)])))
		case 1:
			b.send(t, b.call(schemas.TypePage, user, `"name":"Pricing","properties":{}`))
		default:
			b.send(t, b.track(user, "Order Completed", fmt.Sprintf(`{"total":%d,"category":%q}`, r.IntN(60), []string{"shoes", "hats"}[r.IntN(2)])))
		}
		virtual.Sleep(time.Duration(r.IntN(15)) * time.Second)
	}
	settle()
	return b
}

func users() (all []string) {
	for i := range 20 {
		all = append(all, fmt.Sprintf("user-%02d", i))
	}
	return all
}

// TestMembers: who is a member, and what is known of each user, is what the engine makes
// of all calls.
func TestMembers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := open(t)
		c, err := b.Workspace.compile()
		if err != nil {
			t.Fatal(err)
		}
		list, err := List(t.Context(), &b.Log)
		if err != nil || len(list) != 5 {
			t.Fatalf("list: %+v, %v", list, err)
		}
		for _, s := range list {
			if s.Phase != Ready {
				t.Errorf("%s is %s", s.Key, s.Phase)
			}
			if s.Kind != engine.ClassAudience {
				continue
			}
			want := b.holding(t, c, s.Key)
			members, more, err := Members(t.Context(), &b.Log, s.Key, Page{})
			if err != nil || more {
				t.Fatal(err, more)
			}
			var got []string
			entered := b.entered(t, s.Key)
			for _, m := range members {
				got = append(got, m.UserID)
				if !m.Since.Equal(entered[m.UserID]) {
					t.Errorf("%s is in %s since %s, and was told %s", m.UserID, s.Key, m.Since, entered[m.UserID])
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || len(got) == 0 || len(got) == 20 || int(s.Size) != len(got) {
				t.Errorf("members of %s, size %d (-want +got):\n%s", s.Key, s.Size, diff)
			}
			b.paged(t, s.Key, members)
		}
	})
}

// holding are the users who are members by the oracle.
func (b *bench) holding(t *testing.T, c *engine.Catalogue, key string) (all []string) {
	t.Helper()
	for _, user := range users() {
		if p := b.oracle(t, c, user); !p.Empty() {
			node, err := c.Explain(p, key, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if node.Holds {
				all = append(all, user)
			}
		}
	}
	return all
}

// entered is when users entered as it was told last.
func (b *bench) entered(t *testing.T, key string) map[string]time.Time {
	t.Helper()
	at := make(map[string]time.Time)
	all, _, err := History(t.Context(), &b.Log, key, Span{})
	if err != nil {
		t.Fatal(err)
	}
	for _, told := range all {
		if string(told.Value) == "true" {
			at[told.UserID] = told.At
		}
	}
	return at
}

// paged checks that pages are the members, one after the other.
func (b *bench) paged(t *testing.T, key string, want []Member) {
	t.Helper()
	var got []Member
	page := Page{Limit: max(len(want)/2, 1)}
	for more := true; more; {
		var some []Member
		var err error
		if some, more, err = Members(t.Context(), &b.Log, key, page); err != nil || len(some) == 0 {
			t.Fatal(some, err)
		}
		got = append(got, some...)
		page.After = got[len(got)-1].UserID
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages of %s (-want +got):\n%s", key, diff)
	}
}

// TestProfile: what is shown of a user is what is true of them.
func TestProfile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := open(t)
		c, err := b.Workspace.compile()
		if err != nil {
			t.Fatal(err)
		}
		for _, user := range users() {
			p, err := Look(t.Context(), &b.Log, user)
			if err != nil {
				t.Fatal(err)
			}
			oracle := b.oracle(t, c, user)
			if first, last := oracle.Seen(); !first.Equal(*p.FirstSeen) || !last.Equal(*p.LastSeen) || !slices.Equal(p.Sources, []string{"website"}) {
				t.Errorf("%+v, seen %s to %s", p, first, last)
			}
			if diff := cmp.Diff(fmt.Sprint(c.KnownTraits(oracle)), fmt.Sprint(asBytes(p))); diff != "" {
				t.Errorf("traits of %s (-want +got):\n%s", user, diff)
			}
			for _, key := range []string{"orders", "favourite"} {
				node, err := c.Explain(oracle, key, p.AsOf)
				if err != nil || string(p.Computed[key]) != string(node.Value) && node.Holds {
					t.Errorf("%s of %s is %s, want %s, %v", key, user, p.Computed[key], node.Value, err)
				}
			}
			for key, m := range p.Audiences {
				if node, err := c.Explain(oracle, key, p.AsOf); err != nil || node.Holds != m.Member {
					t.Errorf("%s in %s: %t, want %t, %v", user, key, m.Member, node.Holds, err)
				}
			}
		}
	})
}

func asBytes(p *Profile) map[string][]byte {
	all := make(map[string][]byte)
	for path, value := range p.Traits {
		all[path] = value
	}
	return all
}

// TestExplain: each node is as the engine has it, and what is counted are the calls that
// were sent.
func TestExplain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := open(t)
		c, err := b.Workspace.compile()
		if err != nil {
			t.Fatal(err)
		}
		nodes := make(map[string]int)
		for _, user := range users()[:7] {
			for _, d := range b.Workspace.definitions() {
				got, err := Explain(t.Context(), &b.Log, d.ID, user, false)
				if err != nil {
					t.Fatal(err)
				}
				want, err := c.Explain(b.oracle(t, c, user), d.ID, got.AsOf)
				if err != nil {
					t.Fatal(err)
				}
				b.alike(t, user, &want, got.Tree, got.AsOf, nodes)
			}
		}
		if len(nodes) < 11 {
			t.Errorf("nodes of %d kinds were compared: %v", len(nodes), nodes)
		}
	})
}

// TestExplainWithoutAnID: who has no user id is in no audience that is not for such users,
// whatever its conditions say, and that is what keeps them out.
func TestExplainWithoutAnID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := engine.Definitions{Audiences: []engine.Audience{
			audience(t, `{"id":"buyers","when":{"did":"Order Completed"}}`),
			audience(t, `{"id":"everybody","when":{"did":"Order Completed"},"anonymous":true}`),
		}}
		b := newBench(t, testkit.Virtual(t), d)
		b.start(t)
		virtual.Sleep(3 * time.Second)
		bought := b.track("somebody", "Order Completed", `{}`)
		bought.Value = []byte(strings.Replace(string(bought.Value), `"userId"`, `"anonymousId"`, 1))
		b.send(t, bought)
		settle()
		for key, want := range map[string]string{"buyers": "all no, anonymous: false no", "everybody": ""} {
			e, err := Explain(t.Context(), &b.Log, key, "somebody", true)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if e.Tree != nil {
				got = fmt.Sprintf("%s no, %s no", e.Tree.Node, e.Tree.Children[0].Node)
			}
			if e.Member != (want == "") || got != want || e.Tree != nil && len(e.Tree.Children) != 1 {
				t.Errorf("%s: member %v, %q, expected %q", key, e.Member, got, want)
			}
		}
	})
}

func (b *bench) alike(t *testing.T, user string, want *engine.Node, got *Node, now time.Time, nodes map[string]int) {
	t.Helper()
	nodes[want.Text]++
	var flips time.Time
	if got.FlipsAt != nil {
		flips = *got.FlipsAt
	}
	if want.Text != got.Node || want.Holds != got.Holds || string(want.Value) != string(got.Value) || want.Threshold != got.Threshold || !want.FlipsAt.Equal(flips) {
		t.Errorf("%s: %+v, want %+v", user, got, want)
	}
	if diff := cmp.Diff(b.counted(user, got.Node, now), got.MessageIDs, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: calls that count for %s (-want +got):\n%s", user, got.Node, diff)
	}
	if len(want.Children) != len(got.Children) {
		t.Fatalf("%s: %d children of %s, want %d", user, len(got.Children), got.Node, len(want.Children))
	}
	for i := range want.Children {
		b.alike(t, user, &want.Children[i], got.Children[i], now, nodes)
	}
}

// counted are the calls of a user that a node of the shop counts.
func (b *bench) counted(user, node string, now time.Time) (ids []string) {
	for i, rec := range b.calls {
		value := string(rec.Value)
		is := func(text string) bool { return strings.Contains(value, text) }
		id := fmt.Sprintf("m-%d", i)
		switch {
		case string(rec.Key) != user:
		case node == "did: Order Completed within: 5m":
			if is("Order Completed") && rec.Timestamp.After(now.Add(-5*time.Minute)) {
				ids = append(ids, id)
			}
		case node == "trait: plan":
			if is(`"plan"`) {
				ids = []string{id}
			}
		case node == "did: {page: *}":
			if is(`"page"`) {
				ids = append(ids, id)
			}
		case is("Order Completed") && (node == "did: Order Completed take: sum of: total" || node == "computed: orders" || node == "count" || node == "most_frequent"):
			ids = append(ids, id)
		}
	}
	return ids
}

// TestWhatFails: with --not what keeps a user out is all there is.
func TestWhatFails(t *testing.T) {
	t.Parallel()
	leaf := func(name string, holds bool) *Node { return &Node{Node: name, Holds: holds, Children: []*Node{}} }
	tree := &Node{Node: "all", Children: []*Node{
		leaf("holds", true),
		{Node: "any", Holds: false, Children: []*Node{leaf("a", false), leaf("b", false)}},
		{Node: "not", Holds: false, Children: []*Node{{Node: "any", Holds: true, Children: []*Node{leaf("c", true), leaf("d", false)}}}},
	}}
	want := &Node{Node: "all", Children: []*Node{
		{Node: "any", Holds: false, Children: []*Node{leaf("a", false), leaf("b", false)}},
		{Node: "not", Holds: false, Children: []*Node{{Node: "any", Holds: true, Children: []*Node{leaf("c", true)}}}},
	}}
	if diff := cmp.Diff(want, prune(tree, false), cmpopts.IgnoreUnexported(Node{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := prune(leaf("holds", true), false); got != nil {
		t.Errorf("of a member there is %+v", got)
	}
	for _, c := range []struct{ value, threshold, want string }{
		{"2", "gte 5", "short by 3"},
		{"2", "gt 5", "short by more than 3"},
		{"7", "lt 5", "over by 2"},
		{"7", "lte 5", "over by 2"},
		{"1", "eq 5", "short by 4"},
		{`"x"`, "eq 5", ""},
		{"7", `eq "pro"`, ""},
		{"1", "gte 5, lt 9", ""},
	} {
		n := &Node{Value: []byte(c.value), Threshold: c.threshold}
		if got := n.lacks(); got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.value, c.threshold, got, c.want)
		}
	}
}

// TestHistory: every change is there with its cause.
func TestHistory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := engine.Definitions{Audiences: []engine.Audience{audience(t, `{"id":"buyers","send":"both","when":{"did":"Order Completed","within":"10m"}}`)}}
		b := newBench(t, testkit.Virtual(t), d)
		b.start(t)
		virtual.Sleep(3 * time.Second)
		bought := b.track("ann", "Order Completed", `{}`)
		b.send(t, bought)
		entered := bought.Timestamp
		settle()
		virtual.Sleep(20 * time.Minute)
		edited := audience(t, `{"id":"buyers","send":"both","when":{"did":"Order Completed","within":"1d"}}`)
		edited.Version = 2
		b.apply(engine.Definitions{Audiences: []engine.Audience{edited}})
		virtual.Sleep(time.Minute)
		type change struct {
			Value, Cause string
			Version      int
		}
		want := []change{{"true", "event", 1}, {"false", "timer", 1}, {"true", "edit", 2}}
		for _, name := range []string{"buyers", "ann"} {
			all, found, err := History(t.Context(), &b.Log, name, Span{})
			if err != nil || found != int64(len(all)) {
				t.Fatal(found, err)
			}
			if last, among, lastErr := History(t.Context(), &b.Log, name, Span{Newest: 1}); lastErr != nil || among != found || !cmp.Equal(all[len(all)-1:], last, cmp.AllowUnexported(Told{})) {
				t.Errorf("the last of %s is %+v of %d, %v", name, last, among, lastErr)
			}
			var got []change
			for _, told := range all {
				got = append(got, change{string(told.Value), told.Cause, told.Version})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("of %s (-want +got):\n%s", name, diff)
			}
			if len(all) == 3 && (!all[0].At.Equal(entered) || !all[1].At.Equal(entered.Add(10*time.Minute))) {
				t.Errorf("entered at %s and left at %s, want %s and ten minutes later", all[0].At, all[1].At, entered)
			}
		}
	})
}

// TestNamesThatThereAreNot: the error names the nearest one.
func TestNamesThatThereAreNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, testkit.Virtual(t), shop(t))
		b.start(t)
		virtual.Sleep(3 * time.Second)
		b.send(t, b.track("annabel", "Order Completed", `{}`))
		settle()
		near := func(what string, err error, want Unknown) {
			t.Helper()
			var u *Unknown
			if !errors.As(err, &u) || *u != want {
				t.Errorf("%s: %v, want %v", what, err, &want)
			}
		}
		key, user := Unknown{"audience or computed trait", "winbak", "winback"}, Unknown{"user", "anabel", "annabel"}
		_, err := Show(t.Context(), &b.Log, key.Name)
		near("show", err, key)
		_, _, err = Members(t.Context(), &b.Log, key.Name, Page{})
		near("members", err, key)
		_, err = Explain(t.Context(), &b.Log, key.Name, "annabel", false)
		near("explain", err, key)
		_, err = Explain(t.Context(), &b.Log, "winback", user.Name, false)
		near("explain", err, user)
		_, err = Look(t.Context(), &b.Log, user.Name)
		near("profile", err, user)
		_, _, err = History(t.Context(), &b.Log, user.Name, Span{})
		near("history", err, Unknown{"audience, computed trait or user", user.Name, user.Near})
		_, err = Look(t.Context(), &b.Log, "somebody else")
		near("profile", err, Unknown{"user", "somebody else", ""})
		if _, _, err := Members(t.Context(), &b.Log, "orders", Page{}); err == nil {
			t.Error("a computed trait has members")
		}
	})
}

// TestAUserWhoIsGone: it is said of a user who was merged or deleted.
func TestAUserWhoIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, testkit.Virtual(t), shop(t))
		for _, p := range []struct {
			user    string
			profile engine.Profile
		}{
			{"anon", engine.Profile{Redirect: "ann"}},
			{"bob", engine.Profile{Deletion: engine.Deletion{Offset: 7, Request: "reg_1"}}},
		} {
			b.write(t, changelog.User(home(p.user, partitions), p.user, p.profile.Append(nil)))
		}
		if p, err := Look(t.Context(), &b.Log, "anon"); err != nil || p.MergedInto != "ann" {
			t.Errorf("merged: %+v, %v", p, err)
		}
		if p, err := Look(t.Context(), &b.Log, "bob"); err != nil || p.Deleted != "reg_1" {
			t.Errorf("deleted: %+v, %v", p, err)
		}
		if _, err := Explain(t.Context(), &b.Log, "winback", "anon", false); err == nil || !strings.Contains(err.Error(), "ask for ann") {
			t.Errorf("explain of one who was merged: %v", err)
		}
	})
}
