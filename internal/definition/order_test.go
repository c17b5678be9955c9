package definition

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// TestOrder holds random references against the rule: what is referred to comes first,
// and a cycle is named or there is none.
func TestOrder(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	cycles := 0
	for range 2000 {
		audiences := make([]Audience, 1+random.IntN(6))
		for i := range audiences {
			audiences[i].ID = strconv.Itoa(i)
			for range random.IntN(3) {
				audiences[i].When.Any = append(audiences[i].When.Any, Cond{Leaf: &Leaf{Audience: strconv.Itoa(random.IntN(len(audiences) + 1))}})
			}
		}
		refs, err := Order(audiences, []Trait{{Common: Common{ID: "t"}}})
		if len(refs) != len(audiences)+1 || refs[0] != (Ref{ClassTrait, "t"}) {
			t.Fatalf("%v", refs)
		}
		behind := firstUnordered(audiences, refs)
		if (err != nil) != (behind != "") {
			t.Errorf("%v: %v, out of order: %s", refs, err, behind)
		}
		if err != nil {
			cycles++
		}
	}
	if cycles < 100 || cycles > 1900 {
		t.Errorf("%d cycles were tried", cycles)
	}
}

// firstUnordered returns an audience that stands before one it refers to; empty without.
func firstUnordered(audiences []Audience, refs []Ref) string {
	for i := range audiences {
		own := slices.Index(refs, Ref{ClassAudience, audiences[i].ID})
		for _, c := range audiences[i].When.Any {
			if at := slices.Index(refs, Ref{ClassAudience, c.Leaf.Audience}); at >= own {
				return audiences[i].ID
			}
		}
	}
	return ""
}
