package plan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/stablejson"
)

func walked(object []byte) (all []string) {
	for m := membersOf(object); m.next(); {
		all = append(all, string(m.key)+" = "+string(m.value))
	}
	return all
}

func TestMembers(t *testing.T) {
	t.Parallel()
	for object, want := range map[string][]string{
		``:                          nil,
		`{}`:                        nil,
		`{"":""}`:                   {` = ""`},
		`{"a":1}`:                   {`a = 1`},
		`{"a":-1.5e-7,"b":null}`:    {`a = -1.5e-7`, `b = null`},
		`{"a":"}","b":",","c":":"}`: {`a = "}"`, `b = ","`, `c = ":"`},
		`{"a\"b":"\"","c\\":"\\"}`:  {`a\"b = "\""`, `c\\ = "\\"`},
		`{"a":"\\\"","b":"\\\\"}`:   {`a = "\\\""`, `b = "\\\\"`},
		`{"a":{},"b":[],"c":[{}]}`:  {`a = {}`, `b = []`, `c = [{}]`},
		`{"a":["]",{"}":"{"}],"b":{"c":{"d":[1,2]}}}`: {`a = ["]",{"}":"{"}]`, `b = {"c":{"d":[1,2]}}`},
		`{"a":true,"b":false,"c":0}`:                  {`a = true`, `b = false`, `c = 0`},
	} {
		if diff := cmp.Diff(want, walked([]byte(object))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", object, diff)
		}
	}
}

// TestMembersAreThoseOfTheObject compares random objects with what a
// stablejson.Object has of them.
func TestMembersAreThoseOfTheObject(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		stable, err := stablejson.Append(nil, []byte(randomObject(r, 4)))
		if err != nil {
			t.Fatal(err)
		}
		var o stablejson.Object
		if err := o.Parse(stable); err != nil {
			t.Fatal(err)
		}
		var want []string
		for key, value := range o.All() {
			want = append(want, stableName(key)+" = "+string(value))
		}
		if diff := cmp.Diff(want, walked(stable)); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", stable, diff)
		}
	}
}

// randomObject returns an object that has everything that ends a value too early
// when it is taken for what it is not.
func randomObject(r *rand.Rand, depth int) string {
	members := make([]string, r.IntN(5))
	for i := range members {
		members[i] = randomString(r) + ":" + randomValue(r, depth-1)
	}
	return "{" + strings.Join(members, ",") + "}"
}

func randomValue(r *rand.Rand, depth int) string {
	switch n := r.IntN(6); {
	case n == 0 && depth > 0:
		return randomObject(r, depth)
	case n == 1 && depth > 0:
		return "[" + randomValue(r, depth-1) + "," + randomValue(r, depth-1) + "]"
	case n == 2:
		return fmt.Sprint(r.NormFloat64() * 1e22)
	case n == 3:
		return []string{"true", "false", "null"}[r.IntN(3)]
	default:
		return randomString(r)
	}
}

func randomString(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(6) {
		b.WriteString([]string{`\"`, `\\`, `}`, `]`, `{`, `,`, `:`, `a`, `\u0000`, `ä`, ` `}[r.IntN(11)])
	}
	return `"` + b.String() + `"`
}
