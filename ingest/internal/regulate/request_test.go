package regulate

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/regulation"
)

func TestParse(t *testing.T) {
	t.Parallel()
	got, problems := parse([]byte(` {"subjectIds":["u1","ü","u1","\u0075\u0031","\ud800"],"regulationType":"DELETE_ONLY","subjectType":"USER_ID"} `))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := request{regulation.DeleteOnly, []string{"u1", "ü", "\ufffd"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(request{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestEachProblemIsNamed: whoever corrects a request sees all there is to correct.
func TestEachProblemIsNamed(t *testing.T) {
	t.Parallel()
	const head = `"regulationType":"DELETE_ONLY","subjectType":"USER_ID"`
	for name, c := range map[string]struct {
		body string
		want []string // field: message
	}{
		"nothing":           {"", []string{": the body is not one JSON object"}},
		"no object":         {"[]", []string{": the body is not one JSON object"}},
		"two objects":       {"{}{}", []string{": the body is not one JSON object"}},
		"half of one":       {`{` + head, []string{": the body is not one JSON object"}},
		"an empty one":      {"{}", []string{"regulationType: is missing", "subjectType: is missing", "subjectIds: is missing"}},
		"other words":       {`{"regulationType":"FORGET","subjectType":"OBJECT_ID","subjectIds":["a"]}`, []string{"regulationType: expected one of [SUPPRESS_WITH_DELETE DELETE_ONLY SUPPRESS_ONLY UNSUPPRESS]", "subjectType: expected USER_ID"}},
		"other kinds":       {`{"regulationType":1,"subjectType":null,"subjectIds":"a"}`, []string{"regulationType: expected one of", "subjectType: expected USER_ID", "subjectIds: expected a list"}},
		"no ids":            {`{` + head + `,"subjectIds":[]}`, []string{"subjectIds: expected at least one"}},
		"ids of all sorts":  {`{` + head + `,"subjectIds":["a","",7,null,{"b":1}]}`, []string{"subjectIds[1]: expected a user id, found an empty one", "subjectIds[2]: expected a string", "subjectIds[3]: expected a string", "subjectIds[4]: expected a string"}},
		"an id too long":    {`{` + head + `,"subjectIds":["` + strings.Repeat("x", regulation.MaxSubjectBytes+1) + `"]}`, []string{"subjectIds[0]: expected at most 32768 bytes"}},
		"ids too many":      {`{` + head + `,"subjectIds":["a"` + strings.Repeat(`,"a"`, regulation.MaxSubjects) + `]}`, []string{"subjectIds: expected at most 5000 user ids, found 5001"}},
		"an unknown member": {`{` + head + `,"subjectIds":["a"],"collection":"c"}`, []string{`"collection": is not a member of a regulation`}},
		"another case":      {`{"RegulationType":"DELETE_ONLY","subjectType":"USER_ID","subjectIds":["a"]}`, []string{`"RegulationType": is not a member`, "regulationType: is missing"}},
		"a member twice":    {`{` + head + `,"subjectIds":["a"],"subjectIds":["b"]}`, []string{"subjectIds: is given twice"}},
	} {
		_, problems := parse([]byte(c.body))
		if len(problems) != len(c.want) {
			t.Errorf("%s: got %+v, want %q", name, problems, c.want)
			continue
		}
		for i, p := range problems {
			if got := p.Field + ": " + p.Message; !strings.HasPrefix(got, c.want[i]) {
				t.Errorf("%s: got %q, want %q", name, got, c.want[i])
			}
		}
	}
}

func TestProblemsAreBounded(t *testing.T) {
	t.Parallel()
	_, problems := parse([]byte(`{"subjectIds":[1` + strings.Repeat(",1", 100_000) + `]}`))
	if len(problems) != maxProblems {
		t.Errorf("%d problems", len(problems))
	}
}

// FuzzParse holds the parser to encoding/json: what it takes is JSON that says the
// same, and no problem quotes an id.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"regulationType":"SUPPRESS_ONLY","subjectType":"USER_ID","subjectIds":["u1","u2"]}`))
	f.Add([]byte(`{"regulationType":"UNSUPPRESS","subjectType":"USER_ID","subjectIds":["\ud800","\u0000"]}`))
	f.Add([]byte(`{"subjectIds":[[],{},"",1]}`))
	f.Add([]byte(`{"a":1,"a":2}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		got, problems := parse(body)
		if len(problems) > 0 {
			if got.users != nil || len(problems) > maxProblems+3 {
				t.Fatalf("%q: %d users, %d problems", body, len(got.users), len(problems))
			}
			return
		}
		var want struct {
			RegulationType string   `json:"regulationType"`
			SubjectType    string   `json:"subjectType"`
			SubjectIDs     []string `json:"subjectIds"`
		}
		if err := json.Unmarshal(body, &want); err != nil {
			t.Fatalf("%q is taken: %v", body, err)
		}
		if string(got.kind) != want.RegulationType || want.SubjectType != subjectTypeUser {
			t.Fatalf("%q: got %s", body, got.kind)
		}
		if len(got.users) == 0 || len(got.users) > len(want.SubjectIDs) || slices.Contains(got.users, "") {
			t.Fatalf("%q: got %q", body, got.users)
		}
		for _, id := range want.SubjectIDs {
			// The two read ill-formed UTF-8 differently; ours as in calls.
			if !strings.ContainsRune(id, '\ufffd') && !slices.Contains(got.users, id) {
				t.Fatalf("%q: %q is lost", body, id)
			}
		}
	})
}
