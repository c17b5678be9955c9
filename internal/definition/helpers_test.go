package definition

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/document"
)

// examples use every key of the grammar, and are those of the page in part.
const examples = `audiences:
- {id: pro_in_dach, when: {all: [{trait: plan, is: [pro, enterprise]}, {any: [{trait: address.country, is: DE}, {trait: address.country, is: {in: [AT, CH]}}]}]}}
- {id: shoes_7d, when: {did: Shoes Bought, where: {price: {gte: 100}}, within: 7d}}
- {id: never_ordered, when: {did: Order Completed, times: 0}}
- {id: lapsed, when: {all: [{did: Session Started, between: [90d, 30d]}, {did: Session Started, times: 0, within: 30d}]}}
- {id: big_spenders, when: {did: Order Completed, take: sum, of: total, is: {gte: 500}, within: 90d}}
- {id: trial_ending, when: {trait: trial_ends_at, is: {within_next: 3d}}}
- {id: winback, stay: 1d, when: {all: [{audience: lapsed}, {not: {audience: big_spenders}}]}}
- {id: black_friday, when: {did: {page: Pricing}, where: [{context.campaign.source: mail}, {url: {contains: promo}}], since: 2026-11-27, until: 2026-12-01, sources: [website]}}
- {id: silent_veterans, when: {all: [{profile: first_seen, is: {before_last: 7d}}, {did: Session Started, times: 0, within: 7d}, {computed: orders_30d, is: {lt: 1}}]}}
- {name: Everything Else, enabled: false, anonymous: true, history: 4w, send: both, destinations: [crm], on_delete: exit, when: {any: [
    {did: {screen: "*"}, where: {a\.b: {exists: true}, n: {ne: 1.5, not_in: [x, 2, true]}}, except_sources: [website]},
    {trait: since, is: {before: 2026-01-02T03:04:05+02:00, after: 2020-01-01}},
    {trait: text, is: {not_contains: x, starts_with: "1", ends_with: b, eq: true}},
    {trait: when, is: {within_last: 90s, after_next: 30m}}, {trait: n, is: {gt: -1, lte: 1e3}}]}}
traits:
- {id: orders_30d, take: count, did: Order Completed, within: 30d, every: 1h}
- {id: favourite_category, take: most_frequent, of: category, did: Product Viewed}
- {id: categories_seen, take: unique, of: category, did: Product Viewed, within: 90d, max_values: 100, history: none}
- {id: categories_counted, take: unique_count, of: category, did: Product Viewed, max_values: 500}
`

func world() World {
	return World{Sources: []string{"website", "backend"}, Destinations: map[string]bool{"crm": true, "plain": false}}
}

// file is what a file says, and what is wrong with it.
type file struct {
	audiences []Audience
	traits    []Trait
	found     document.Problems
}

func read(tb testing.TB, text string) file {
	tb.Helper()
	f, err := readFile(text, world())
	if err != nil {
		tb.Fatalf("%v\n%s", err, text)
	}
	return f
}

// readFile reads two lists, as the workspace file has them.
func readFile(text string, in World) (f file, err error) {
	var doc struct{ Audiences, Traits []yaml.Node }
	if err = unmarshal(text, &doc); err != nil {
		return f, err
	}
	for i := range doc.Audiences {
		a, found := ReadAudience(&doc.Audiences[i], document.ElementPath("audiences", i))
		f.audiences, f.found = append(f.audiences, a), append(f.found, found...)
	}
	for i := range doc.Traits {
		t, found := ReadTrait(&doc.Traits[i], document.ElementPath("traits", i))
		f.traits, f.found = append(f.traits, t), append(f.found, found...)
	}
	Check(f.audiences, f.traits, in, func(path, value, want string) {
		f.found.Add(document.Problem{Path: path, Value: value, Want: want})
	})
	return f, nil
}

// unmarshal knows that the YAML parser panics on some malformed texts.
func unmarshal(text string, to any) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the parser gave up")
		}
	}()
	return yaml.Unmarshal([]byte(text), to)
}

// lines are the problems as text.
func (f file) lines() []string {
	lines := make([]string, len(f.found))
	for i, p := range f.found {
		lines[i] = fmt.Sprintf("%s: %s: expected %s", p.Path, p.Value, p.Want)
	}
	slices.Sort(lines)
	return lines
}

// condition reads an audience with a condition.
func condition(tb testing.TB, when string) file {
	tb.Helper()
	return read(tb, "audiences: [{id: a, when: "+when+"}]")
}
