package definition

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// audience and trait are files of one definition.
func audience(when string) string { return "audiences: [{id: a, when: " + when + "}]" }
func trait(keys string) string    { return "traits: [{id: t, " + keys + "}]" }

// mistakes are files and all that is said of them.
var mistakes = []struct {
	text string
	want []string
}{
	{`audiences: [a, [b], ~, {}]`, []string{
		`audiences[0]: "a": expected an audience: a mapping with an id or a name, and a condition under when`,
		`audiences[1]: a list: expected an audience: a mapping with an id or a name, and a condition under when`,
		`audiences[2]: nothing: expected an audience: a mapping with an id or a name, and a condition under when`,
		`audiences[3].id: missing: expected an id: lower-case letters, digits and single underscores between them, 1 to 128 bytes`,
		`audiences[3].when: missing: expected a condition: a mapping with one of the keys all, any, not, did, trait, computed, profile, audience`,
	}},
	{`audiences: [{id: A, when: {did: E}}, {id: a-b, when: {did: E}}, {id: a__b, when: {did: E}}, {id: 7, when: {did: E}}, {id: '', when: {did: E}}]`, []string{
		`audiences[0].id: "A": expected an id: lower-case letters, digits and single underscores between them, 1 to 128 bytes`,
		`audiences[1].id: "a-b": expected an id: lower-case letters, digits and single underscores between them, 1 to 128 bytes`,
		`audiences[2].id: "a__b": expected an id: lower-case letters, digits and single underscores between them, 1 to 128 bytes`,
		`audiences[3].id: "7": expected an id: lower-case letters, digits and single underscores between them, 1 to 128 bytes; quotes make text of it`,
		`audiences[4].id: "": expected an id: lower-case letters, digits and single underscores between them, 1 to 128 bytes`,
	}},
	{`audiences: [{name: '!', when: {did: E}}, {name: '', when: {did: E}}, {name: Personas, when: {did: E}}, {id: personas, when: {did: E}}, {name: 7, when: {did: E}}]`, []string{
		`audiences[0].name: "!": expected a name whose snake_case is an id of 1 to 128 bytes, or an id beside it`,
		`audiences[1].name: "": expected a name of printable characters, 1 to 256 bytes`,
		`audiences[2].name: "Personas": expected another id: personas is the source that tells of all audiences and computed traits`,
		`audiences[3].id: "personas": expected another id: personas is the source that tells of all audiences and computed traits`,
		`audiences[4].name: "7": expected a name of printable characters, 1 to 256 bytes; quotes make text of it`,
	}},
	{`audiences: [{id: a, nmane: b, when: {did: E}, evry: 1h, every: 1h, enabled: yes, anonymous: 'true', history: all, send: page, on_delete: leave, stay: 1}]`, []string{
		`audiences[0].anonymous: "true": expected true or false`,
		`audiences[0].enabled: "yes": expected true or false`,
		`audiences[0].every: unknown key: expected one of id, name, enabled, when, stay, on_delete, anonymous, history, send, destinations`,
		`audiences[0].evry: unknown key: expected one of id, name, enabled, when, stay, on_delete, anonymous, history, send, destinations`,
		`audiences[0].history: "all": expected full, none or a duration: a whole number and one of s, m, h, d, w, such as 90s, 12h or 7d; at most 36500d`,
		`audiences[0].nmane: unknown key: expected name`,
		`audiences[0].on_delete: "leave": expected one of keep, exit`,
		`audiences[0].send: "page": expected one of identify, track, both`,
		`audiences[0].stay: "1": expected a duration: a whole number and one of s, m, h, d, w, such as 90s, 12h or 7d; at most 36500d`,
	}},
	{`audiences: [{id: a, id: b, when: {did: E}, destinations: []}, {id: c, destinations: [crm, crm, plain, crn, none], when: {did: E}}]`, []string{
		`audiences[0].destinations: a list: expected a list of one or more ids of destinations`,
		`audiences[0].id: repeated: expected the key once; it is also on line 1`,
		`audiences[1].destinations: "crn": expected the id of one of the destinations, such as crm`,
		`audiences[1].destinations: "none": expected the id of one of the destinations`,
		`audiences[1].destinations: "plain": expected a destination that has personas among its sources`,
		`audiences[1].destinations[1]: "crm" repeated: expected each id once`,
	}},
	{`audiences: [{id: a, when: {did: E}}, {name: A, when: {did: E}}]
traits: [{id: a, take: count, did: E}]`, []string{
		`audiences[1].id: "a": expected an id of its own among audiences and traits; audiences[0] has the same`,
		`traits[0].id: "a": expected an id of its own among audiences and traits; audiences[0] has the same`,
	}},
	{`audiences: [{id: a, when: {audience: b}}, {id: b, when: {any: [{did: E}, {not: {audience: c}}]}}, {id: c, when: {all: [{audience: a}]}}]`, []string{
		`audiences[2].when.all[0].audience: a -> b -> c -> a: expected audiences that do not lead back to themselves`,
	}},
	{`audiences: [{id: big_spenders, when: {audience: big_spender}}, {id: x, when: {any: [{audience: x}, {audience: nothing_like_it}, {computed: t}, {computed: big_spenders, is: 1}, {computed: y, is: 1}, {audience: off}]}}, {id: off, enabled: false, when: {did: E}}]`, []string{
		`audiences[0].when.audience: "big_spender": expected the id of one of the audiences, such as big_spenders`,
		`audiences[1].when.any[0].audience: x -> x: expected audiences that do not lead back to themselves`,
		`audiences[1].when.any[1].audience: "nothing_like_it": expected the id of one of the audiences`,
		`audiences[1].when.any[2].computed: "t": expected the id of one of the traits`,
		`audiences[1].when.any[2].is: missing: expected text, a number, true or false, or a list of those, or a mapping of operators such as {gte: 10, lt: 20}, all of which hold`,
		`audiences[1].when.any[3].computed: "big_spenders": expected the id of one of the traits`,
		`audiences[1].when.any[4].computed: "y": expected the id of one of the traits`,
		`audiences[1].when.any[5].audience: "off": expected one that is enabled, or this definition disabled too`,
	}},
	{audience(`{}`), []string{
		`audiences[0].when: a mapping: expected a condition: a mapping with one of the keys all, any, not, did, trait, computed, profile, audience`,
	}},
	{audience(`x`), []string{
		`audiences[0].when: "x": expected a condition: a mapping with one of the keys all, any, not, did, trait, computed, profile, audience`,
	}},
	{audience(`[]`), []string{
		`audiences[0].when: a list: expected a condition: a mapping with one of the keys all, any, not, did, trait, computed, profile, audience`,
	}},
	{audience(`{any: []}`), []string{
		`audiences[0].when.any: a list: expected a list of one or more conditions`,
	}},
	{audience(`{all: {did: E}}`), []string{
		`audiences[0].when.all: a mapping: expected a list of one or more conditions`,
	}},
	{audience(`{not: [{did: E}]}`), []string{
		`audiences[0].when.not: a list: expected a condition: a mapping with one of the keys all, any, not, did, trait, computed, profile, audience`,
	}},
	{audience(`{did: E, trait: plan, is: 1}`), []string{
		`audiences[0].when: the keys did and trait: expected one of them; all: [...] joins several conditions`,
	}},
	{audience(`{dit: E}`), []string{
		`audiences[0].when.dit: unknown key: expected did`,
	}},
	{audience(`{times: 3}`), []string{
		`audiences[0].when: a mapping: expected a condition: a mapping with one of the keys all, any, not, did, trait, computed, profile, audience`,
	}},
	{audience(`{did: E, then_not: {did: F, within: 1d}}`), []string{
		`audiences[0].when.then_not: not supported yet: an event that does not follow another one: expected a definition without then_not`,
	}},
	{audience(`{did: E, then: {did: F, within: 1d}, same: [a], session: 30m}`), []string{
		`audiences[0].when.same: not supported yet: equal values in two events: expected a definition without same`,
		`audiences[0].when.session: not supported yet: sessions as a window: expected a definition without session`,
		`audiences[0].when.then: not supported yet: an event that follows another one: expected a definition without then`,
	}},
	{audience(`{then: {did: F}}`), []string{
		`audiences[0].when.then: not supported yet: an event that follows another one: expected a definition without then`,
	}},
	{audience(`{all: [{did: E}], is: 3}`), []string{
		`audiences[0].when.is: unknown key: expected one of all`,
	}},
	{audience(`{did: 7}`), []string{
		`audiences[0].when.did: "7": expected an event's name, {page: NAME} or {screen: NAME}; "*" is any name; quotes make text of it`,
	}},
	{audience(`{did: ''}`), []string{
		`audiences[0].when.did: "": expected an event's name, {page: NAME} or {screen: NAME}; "*" is any name`,
	}},
	{audience(`{did: {page: X, screen: Y}}`), []string{
		`audiences[0].when.did: a mapping: expected an event's name, {page: NAME} or {screen: NAME}; "*" is any name`,
	}},
	{audience(`{did: {pages: X}}`), []string{
		`audiences[0].when.did.pages: unknown key: expected page`,
	}},
	{audience(`{did: {group: X}}`), []string{
		`audiences[0].when.did.group: unknown key: expected one of page, screen`,
	}},
	{audience(`{did: {page: 7}}`), []string{
		`audiences[0].when.did.page: "7": expected a name of printable characters, 1 to 256 bytes; quotes make text of it`,
	}},
	{audience(`{did: E, within: 7}`), []string{
		`audiences[0].when.within: "7": expected a duration: a whole number and one of s, m, h, d, w, such as 90s, 12h or 7d; at most 36500d`,
	}},
	{audience(`{did: E, within: 0d}`), []string{
		`audiences[0].when.within: "0d": expected a duration: a whole number and one of s, m, h, d, w, such as 90s, 12h or 7d; at most 36500d`,
	}},
	{audience(`{did: E, within: 7d, since: 2026-01-01}`), []string{
		`audiences[0].when.since: beside within: expected only one of the two`,
	}},
	{audience(`{did: E, within: 7d, between: [9d, 8d]}`), []string{
		`audiences[0].when.between: beside within: expected only one of the two`,
	}},
	{audience(`{did: E, between: [7d]}`), []string{
		`audiences[0].when.between: 1 elements: expected two durations, the longer first, such as [90d, 30d]`,
	}},
	{audience(`{did: E, between: [7d, 7d]}`), []string{
		`audiences[0].when.between[1]: "7d": expected a duration shorter than the one before it`,
	}},
	{audience(`{did: E, until: 2026-01-01}`), []string{
		`audiences[0].when.until: without since: expected since beside it`,
	}},
	{audience(`{did: E, since: 2026-02-01, until: 2026-01-01}`), []string{
		`audiences[0].when.until: "2026-01-01": expected a time after since`,
	}},
	{audience(`{did: E, since: yesterday}`), []string{
		`audiences[0].when.since: "yesterday": expected a time: 2026-11-27, which begins at midnight UTC, or 2026-11-27T09:30:00Z`,
	}},
	{audience(`{did: E, sources: [website], except_sources: [backend]}`), []string{
		`audiences[0].when.except_sources: beside sources: expected only one of the two`,
	}},
	{audience(`{did: E, sources: [websit, personas]}`), []string{
		`audiences[0].when.sources: "personas": expected another source: what is told of audiences and traits never counts`,
		`audiences[0].when.sources: "websit": expected the id of one of the sources, such as website`,
	}},
	{audience(`{did: E, times: {gte: 1.5}}`), []string{
		`audiences[0].when.times.gte: "1.5": expected a whole number from 0 on`,
	}},
	{audience(`{did: E, times: -1}`), []string{
		`audiences[0].when.times: "-1": expected a whole number from 0 on`,
	}},
	{audience(`{did: E, times: many}`), []string{
		`audiences[0].when.times: "many": expected a whole number from 0 on`,
	}},
	{audience(`{did: E, times: {}}`), []string{
		`audiences[0].when.times: an empty mapping: expected a whole number from 0 on, or a list of those, or a mapping of operators, all of which hold: eq, ne, gt, gte, lt, lte, in, not_in`,
	}},
	{audience(`{did: E, times: {contains: 1}}`), []string{
		`audiences[0].when.times.contains: contains of a number of events: expected one of eq, ne, gt, gte, lt, lte, in, not_in`,
	}},
	{audience(`{did: E, times: {gte: '1'}}`), []string{
		`audiences[0].when.times.gte: "1": expected a whole number from 0 on`,
	}},
	{audience(`{did: E, times: 1, take: sum, of: x, is: 1}`), []string{
		`audiences[0].when.times: beside take: expected only one of the two`,
	}},
	{audience(`{did: E, take: sum, is: 1}`), []string{
		`audiences[0].when.of: missing: expected a path such as a.b; a\.b is a name with a dot, to the value that take: sum is of`,
	}},
	{audience(`{did: E, take: sum, of: x}`), []string{
		`audiences[0].when.is: missing: expected text, a number, true or false, or a list of those, or a mapping of operators such as {gte: 10, lt: 20}, all of which hold`,
	}},
	{audience(`{did: E, take: median, of: x, is: 1}`), []string{
		`audiences[0].when.take: "median": expected one of count, sum, avg, min, max, first, last, most_frequent, unique, unique_count`,
	}},
	{audience(`{did: E, take: count, of: x, is: 1}`), []string{
		`audiences[0].when.of: beside take: count: expected no value, since count counts events; unique_count counts values`,
	}},
	{audience(`{did: E, of: x, is: 1}`), []string{
		`audiences[0].when.is: without take: expected take beside it, or times`,
		`audiences[0].when.of: without take: expected take beside it, or times`,
	}},
	{audience(`{did: E, take: sum, of: x, is: {within_last: 7d}}`), []string{
		`audiences[0].when.is.within_last: within_last of a number: expected one of eq, ne, gt, gte, lt, lte, in, not_in, exists`,
	}},
	{audience(`{did: E, take: avg, of: x, is: ten}`), []string{
		`audiences[0].when.is: "ten": expected a number`,
	}},
	{audience(`{did: E, take: unique, of: x, is: a}`), []string{
		`audiences[0].when.is: "a": expected a mapping of operators, all of which hold: contains, not_contains`,
	}},
	{audience(`{did: E, take: unique_count, of: x, is: {gt: 0.5}}`), []string{
		`audiences[0].when.is.gt: "0.5": expected a whole number from 0 on`,
	}},
	{audience(`{did: E, where: {}}`), []string{
		`audiences[0].when.where: an empty mapping: expected a mapping of paths to tests, such as {price: {gte: 100}}, or a list of those`,
	}},
	{audience(`{did: E, where: []}`), []string{
		`audiences[0].when.where: a list: expected a list of one or more mappings of paths to tests`,
	}},
	{audience(`{did: E, where: x}`), []string{
		`audiences[0].when.where: "x": expected a mapping of paths to tests, such as {price: {gte: 100}}, or a list of those`,
	}},
	{audience(`{did: E, where: {a..b: 1, context: 1, price: {gt: ten, gte: 1, mor: 2}}}`), []string{
		`audiences[0].when.where.context: "context": expected a path such as a.b; a\.b is a name with a dot, or a path below context`,
		`audiences[0].when.where.price.gt: "ten": expected a number`,
		`audiences[0].when.where.price.mor: unknown key: expected one of eq, ne, gt, gte, lt, lte, in, not_in, contains, not_contains, starts_with, ends_with, exists, before, after, within_last, before_last, within_next, after_next`,
		`audiences[0].when.where["a..b"]: "a..b": expected a path such as a.b; a\.b is a name with a dot, or a path below context`,
	}},
	{audience(`{did: E, where: {price: {gte: 1, gte: 2}}}`), []string{
		`audiences[0].when.where.price.gte: repeated: expected the key once; it is also on line 1`,
	}},
	{audience(`{trait: plan}`), []string{
		`audiences[0].when.is: missing: expected text, a number, true or false, or a list of those, or a mapping of operators such as {gte: 10, lt: 20}, all of which hold`,
	}},
	{audience(`{trait: '', is: 1}`), []string{
		`audiences[0].when.trait: "": expected a path such as a.b; a\.b is a name with a dot`,
	}},
	{audience(`{trait: plan, is: ~}`), []string{
		`audiences[0].when.is: nothing: expected text, a number, true or false, or a list of those, or a mapping of operators such as {gte: 10, lt: 20}, all of which hold`,
	}},
	{audience(`{trait: plan, is: [~, 1, 1]}`), []string{
		`audiences[0].when.is[0]: nothing: expected text, a number, true or false; {exists: false} asks for no value`,
		`audiences[0].when.is[2]: "1" repeated: expected each value once`,
	}},
	{audience(`{trait: plan, is: {in: pro}}`), []string{
		`audiences[0].when.is.in: "pro": expected a list of one or more values: text, a number, true or false`,
	}},
	{audience(`{trait: plan, is: {gt: abc}}`), []string{
		`audiences[0].when.is.gt: "abc": expected a number`,
	}},
	{audience(`{trait: plan, is: {starts_with: 1}}`), []string{
		`audiences[0].when.is.starts_with: "1": expected text`,
	}},
	{audience(`{trait: plan, is: {exists: 'yes'}}`), []string{
		`audiences[0].when.is.exists: "yes": expected true or false`,
	}},
	{audience(`{trait: plan, is: {before: 5}}`), []string{
		`audiences[0].when.is.before: "5": expected a time: 2026-11-27, which begins at midnight UTC, or 2026-11-27T09:30:00Z`,
	}},
	{audience(`{trait: plan, is: {within_last: soon}}`), []string{
		`audiences[0].when.is.within_last: "soon": expected a duration: a whole number and one of s, m, h, d, w, such as 90s, 12h or 7d; at most 36500d`,
	}},
	{audience(`{trait: plan, is: 010}`), []string{
		`audiences[0].when.is: "010": expected a number as JSON writes it, such as 10, -1 or 2.5; quotes make text of it`,
	}},
	{audience(`{trait: plan, is: [0x10, 1_000, .inf, +1]}`), []string{
		`audiences[0].when.is[0]: "0x10": expected a number as JSON writes it, such as 10, -1 or 2.5; quotes make text of it`,
		`audiences[0].when.is[1]: "1_000": expected a number as JSON writes it, such as 10, -1 or 2.5; quotes make text of it`,
		`audiences[0].when.is[2]: ".inf": expected a number as JSON writes it, such as 10, -1 or 2.5; quotes make text of it`,
		`audiences[0].when.is[3]: "+1": expected a number as JSON writes it, such as 10, -1 or 2.5; quotes make text of it`,
	}},
	{audience(`{trait: plan, is: 9007199254740993}`), []string{
		`audiences[0].when.is: "9007199254740993": expected a number of at most 9007199254740991, up to which all are told apart; quotes make text of it`,
	}},
	{audience(`{trait: plan, is: !vault x}`), []string{
		`audiences[0].when.is: a value tagged "!vault": expected text, a number, true or false, or a list of those, or a mapping of operators such as {gte: 10, lt: 20}, all of which hold`,
	}},
	{audience(`{profile: age, is: 1}`), []string{
		`audiences[0].when.is: "1": expected a mapping of operators, all of which hold: before, after, within_last, before_last`,
		`audiences[0].when.profile: "age": expected one of first_seen, last_seen`,
	}},
	{audience(`{profile: first_seen, is: 2026-01-01}`), []string{
		`audiences[0].when.is: "2026-01-01": expected a mapping of operators, all of which hold: before, after, within_last, before_last`,
	}},
	{audience(`{profile: first_seen, is: {exists: true}}`), []string{
		`audiences[0].when.is.exists: exists of the time at which a user was seen: expected one of before, after, within_last, before_last`,
	}},
	{audience(`{all: [{all: [{all: [{all: [{all: [{all: [{all: [{all: [{did: E}]}]}]}]}]}]}]}]}`), []string{
		`audiences[0].when.all[0].all[0].all[0].all[0].all[0].all[0].all[0].all[0]: a condition at depth 9: expected a depth of at most 8; the one under when is 1`,
	}},
	{trait(`take: sum, did: E`), []string{
		`traits[0].of: missing: expected a path such as a.b; a\.b is a name with a dot, to the value that take: sum is of`,
	}},
	{trait(`take: count, of: x, did: E`), []string{
		`traits[0].of: beside take: count: expected no value, since count counts events; unique_count counts values`,
	}},
	{trait(`take: first, of: x`), []string{
		`traits[0].did: missing: expected an event's name, {page: NAME} or {screen: NAME}; "*" is any name`,
	}},
	{trait(`did: E`), []string{
		`traits[0].take: missing: expected one of count, sum, avg, min, max, first, last, most_frequent, unique, unique_count`,
	}},
	{trait(`take: count, did: E, times: 3, stay: 1d, when: {did: E}, at_least: 2, max_values: 5`), []string{
		`traits[0].at_least: beside take: count: expected take: most_frequent, which alone has at_least`,
		`traits[0].max_values: beside take: count: expected take: unique or unique_count, which alone have max_values`,
		`traits[0].stay: unknown key: expected one of id, name, enabled, take, of, did, where, within, between, since, until, sources, except_sources, at_least, max_values, every, anonymous, history, send, destinations`,
		`traits[0].times: unknown key: expected one of id, name, enabled, take, of, did, where, within, between, since, until, sources, except_sources, at_least, max_values, every, anonymous, history, send, destinations`,
		`traits[0].when: unknown key: expected where`,
	}},
	{trait(`take: unique, of: x, did: E, max_values: 10001`), []string{
		`traits[0].max_values: "10001": expected a whole number, 1 to 10000`,
	}},
	{trait(`take: most_frequent, of: x, did: E, at_least: 0`), []string{
		`traits[0].at_least: "0": expected a whole number, 1 to 1000000`,
	}},
	{trait(`take: count, did: E, session: 30m`), []string{
		`traits[0].session: not supported yet: sessions as a window: expected a definition without session`,
	}},
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, m := range mistakes {
		if diff := cmp.Diff(m.want, read(t, m.text).lines()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", m.text, diff)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	leaves := func(n int) string { return "{any: [" + strings.Repeat("{did: E}, ", n) + "]}" }
	if f := condition(t, leaves(MaxLeaves)); len(f.found) > 0 {
		t.Errorf("%d leaves: %v", MaxLeaves, f.lines())
	}
	deep := strings.Repeat("{not: ", MaxDepth-1) + "{did: E}" + strings.Repeat("}", MaxDepth-1)
	if f := condition(t, deep); len(f.found) > 0 {
		t.Errorf("depth %d: %v", MaxDepth, f.lines())
	}
	var values strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&values, "value%06d, ", i)
	}
	for text, want := range map[string]string{
		leaves(MaxLeaves + 1):                       "audiences[0]: 51 leaves: expected at most 50: conditions that are neither all, any nor not",
		"{trait: a, is: [" + values.String() + "]}": "audiences[0]: 420125 bytes: expected a definition of at most 262144 bytes, as it is stored",
	} {
		if got := condition(t, text).lines(); len(got) != 1 || got[0] != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}

// TestMostDestinations are as many as the header of what is told has room for.
func TestMostDestinations(t *testing.T) {
	t.Parallel()
	ids := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, "d"+strconv.Itoa(i))
		}
		return strings.Join(list, ", ")
	}
	for n, want := range map[int]string{100: "", 101: "traits[0].destinations: 101 ids: expected at most 100"} {
		var root yaml.Node
		if err := yaml.Unmarshal([]byte("{id: a, take: count, did: E, sources: ["+ids(n)+"], destinations: ["+ids(n)+"]}"), &root); err != nil {
			t.Fatal(err)
		}
		_, found := ReadTrait(root.Content[0], "traits[0]")
		if got := strings.Join(file{found: found}.lines(), "\n"); got != want {
			t.Errorf("%d destinations: %q, want %q", n, got, want)
		}
	}
}

// TestMistakesHaveTheirLines: the one of the key or the value that is wrong.
func TestMistakesHaveTheirLines(t *testing.T) {
	t.Parallel()
	const text = `id: a
when:
  all:
  - did: E
    wthin: 7d
  - trait: p
    is:
      gt: x
  - {}
nmane: a
`
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(text), &root); err != nil {
		t.Fatal(err)
	}
	_, found := ReadAudience(root.Content[0], "audiences[0]")
	var got []string
	for _, p := range found {
		got = append(got, fmt.Sprintf("%d: %s", p.Line, p.Path))
	}
	slices.Sort(got)
	want := []string{"10: audiences[0].nmane", "5: audiences[0].when.all[0].wthin", "8: audiences[0].when.all[1].is.gt", "9: audiences[0].when.all[2]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
