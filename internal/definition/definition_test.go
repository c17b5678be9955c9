package definition

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestExamples(t *testing.T) {
	t.Parallel()
	f := read(t, examples)
	if len(f.found) > 0 {
		t.Fatal(f.lines())
	}
	if len(f.audiences) != 10 || len(f.traits) != 4 {
		t.Fatalf("%d audiences, %d traits", len(f.audiences), len(f.traits))
	}
	for i := range f.audiences {
		back, err := ParseAudience(f.audiences[i].JSON())
		if diff := cmp.Diff(f.audiences[i], back); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", f.audiences[i].ID, err, diff)
		}
	}
	for i := range f.traits {
		back, err := ParseTrait(f.traits[i].JSON())
		if diff := cmp.Diff(f.traits[i], back); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", f.traits[i].ID, err, diff)
		}
	}
}

func TestWhatIsRead(t *testing.T) {
	t.Parallel()
	f := read(t, examples)
	text := func(s string) Value { return Value{Kind: Text, Text: s} }
	num := func(n float64) Value { return Value{Kind: Number, Number: n} }
	day := 24 * time.Hour
	common := func(id string) Common {
		return Common{ID: id, Name: id, Enabled: true, History: History{Full: true}, Send: SendIdentify}
	}
	sum := Audience{Common: common("big_spenders"), OnDelete: OnDeleteKeep, When: Cond{Leaf: &Leaf{Did: &Did{
		Event: Event{Type: Track, Name: "Order Completed", Window: Window{Kind: Within, Far: 90 * day}},
		Take:  Sum, Of: Path{"total"}, Is: Test{{Op: Gte, Values: []Value{num(500)}}},
	}}}}
	friday := Audience{Common: common("black_friday"), OnDelete: OnDeleteKeep, When: Cond{Leaf: &Leaf{Did: &Did{
		Event: Event{
			Type: Page, Name: "Pricing", Sources: []string{"website"},
			Where: [][]Pred{
				{{Path: Path{"context", "campaign", "source"}, Test: Test{{Op: Eq, Values: []Value{text("mail")}}}}},
				{{Path: Path{"url"}, Test: Test{{Op: Contains, Values: []Value{text("promo")}}}}},
			},
			Window: Window{Kind: Since, Since: time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)},
		},
		Take: Count, Is: Test{{Op: Gte, Values: []Value{num(1)}}},
	}}}}
	seen := Trait{Common: common("categories_seen"), Take: Unique, Of: Path{"category"}, MaxValues: 100, Event: Event{
		Type: Track, Name: "Product Viewed", Window: Window{Kind: Within, Far: 90 * day},
	}}
	seen.History = History{}
	rest := f.audiences[9]
	if rest.ID != "everything_else" || rest.Enabled || !rest.Anonymous || rest.History.For != 28*day || rest.Send != SendBoth || rest.OnDelete != OnDeleteExit {
		t.Errorf("%+v", rest.Common)
	}
	for _, pair := range [][2]any{{sum, f.audiences[4]}, {friday, f.audiences[7]}, {seen, f.traits[2]}, {2, f.traits[1].AtLeast}, {time.Hour, f.traits[0].AtMostEvery}, {day, f.audiences[6].AtMostEvery}} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	const want = `{"enabled":true,"history":"full","id":"big_spenders","name":"big_spenders","on_delete":"keep","send":"identify",` +
		`"when":{"did":"Order Completed","is":{"gte":500},"of":"total","take":"sum","within":"90d"}}`
	if got := string(f.audiences[4].JSON()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestEqualDefinitionsAreEqualBytes however they are written.
func TestEqualDefinitionsAreEqualBytes(t *testing.T) {
	t.Parallel()
	for _, ways := range [][]string{
		{`{trait: plan, is: pro}`, `{is: {eq: "pro"}, trait: plan}`},
		{`{trait: plan, is: [b, a, 2, 10]}`, `{trait: plan, is: {in: [a, 10.0, b, 2]}}`},
		{`{trait: n, is: {gte: 10, lt: 20}}`, `{trait: n, is: {lt: 2e1, gte: 10}}`},
		{`{trait: n, is: 0}`, `{trait: n, is: -0}`, `{trait: n, is: 0.0}`},
		{`{did: E, within: 1d}`, `{did: E, within: 24h, times: {gte: 1}}`, `{did: E, within: 1440m, take: count, is: {gte: 1}}`},
		{`{did: E, within: 2w, where: {a: 1, b: 2}}`, `{did: E, within: 14d, where: [{b: 2, a: 1}]}`},
		{`{did: E, since: 2026-11-27, sources: [website, backend]}`, `{did: E, since: 2026-11-27T01:00:00+01:00, sources: [backend, website]}`},
	} {
		first := condition(t, ways[0])
		for _, way := range ways {
			f := condition(t, way)
			if len(f.found) > 0 || string(f.audiences[0].JSON()) != string(first.audiences[0].JSON()) {
				t.Errorf("%s: %s, %v; want %s", way, f.audiences[0].JSON(), f.lines(), first.audiences[0].JSON())
			}
		}
	}
}

func TestSnakeCase(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Café Visits": "cafe_visits", "Straße": "strasse", "GROẞ": "gross", "HTTPServer": "httpserver", "iPhone users": "i_phone_users",
		"Order Completed Last 30days": "order_completed_last_30days", "30Days": "30days", "a1B": "a1b", "  big -- spenders! ": "big_spenders",
		"bigSpenders": "big_spenders", "big_spenders": "big_spenders", "ﬁne ½": "fine_1_2", "Ünïcödé": "unicode", "Покупатели Москвы": "покупатели_москвы",
		"naïve\u0301": "naive", "東京": "東京", "한국": "한국", "!?": "", "": "", "100% off": "100_off", "Éa": "ea", "aÉ": "a_e", "İstanbul": "istanbul", "Ⅳ": "iv", "x²": "x2",
	} {
		if got := SnakeCase(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func FuzzSnakeCase(f *testing.F) {
	for _, seed := range []string{"Café Visits", "HTTPServer", "ẞß", "İ", "ǅ", "\u1e9b\u0323", "aᴬb", "\u03d2\u0301", "\xff", "ﷺ"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		id := SnakeCase(name)
		if again := SnakeCase(id); again != id {
			t.Errorf("%q: %q, and of that %q", name, id, again)
		}
		if strings.HasPrefix(id, "_") || strings.HasSuffix(id, "_") || strings.Contains(id, "__") {
			t.Errorf("%q: %q", name, id)
		}
	})
}

func TestDurations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"90s": "90s", "60s": "1m", "30m": "30m", "12h": "12h", "24h": "1d", "7d": "7d", "4w": "28d", "0s": "0s", "0d": "0s", "36500d": "36500d",
		"36501d": "", "5300w": "", "": "", "d": "", "7": "", "-7d": "", "07d": "", "1.5d": "", "7 d": "", "7D": "", "1d12h": "", "99999999999s": "", "7y": "",
	} {
		d, ok := ParseDuration(text)
		if ok != (want != "") || ok && FormatDuration(d) != want {
			t.Errorf("%q: %v, %v, want %q", text, d, ok, want)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Path{
		"a": {"a"}, "a.b": {"a", "b"}, `a\.b`: {"a.b"}, `a\\.b`: {`a\`, "b"}, "e mail.ü": {"e mail", "ü"},
		"": nil, ".": nil, "a.": nil, ".a": nil, "a..b": nil, `a\`: nil, `a\n`: nil, "a\tb": nil, strings.Repeat("a", 257): nil,
	} {
		path, ok := ParsePath(text)
		if diff := cmp.Diff(want, path); ok != (want != nil) || ok && (diff != "" || path.String() != text) {
			t.Errorf("%q: %q, %v, again %q", text, []string(path), ok, path.String())
		}
	}
}

func TestLeaves(t *testing.T) {
	t.Parallel()
	f := condition(t, "{all: [{trait: a, is: 1}, {not: {any: [{trait: b, is: 1}, {trait: c, is: 1}]}}]}")
	var got []string
	f.audiences[0].When.Leaves(func(path string, l *Leaf) { got = append(got, path+" "+l.Trait.String()) })
	if diff := cmp.Diff([]string{"all[0] a", "all[1].not.any[0] b", "all[1].not.any[1] c"}, got); diff != "" {
		t.Error(diff)
	}
}
