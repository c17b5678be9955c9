package decode

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/schemas"
)

// nested is value inside n arrays.
func nested(n int, value string) string {
	return strings.Repeat("[", n) + value + strings.Repeat("]", n)
}

// TestDeepPartsOfABatch cuts in calls, which costs these, and around them, which
// costs the batch.
func TestDeepPartsOfABatch(t *testing.T) {
	deep := nested(schemas.MaxDepth, "[]")
	good, bad := `{"type":"identify","userId":"u"}`, `{"type":"identify","userId":"u","traits":{"a":`+deep+`,"b":`+deep+`}}`
	for name, c := range map[string]struct {
		body string
		deep []bool // by call; nil when the batch is refused
	}{
		"first of two":     {`{"batch":[` + bad + `,` + good + `]}`, []bool{true, false}},
		"all":              {`{"batch":[` + bad + `,` + bad + `]}`, []bool{true, true}},
		"the context":      {`{"batch":[` + good + `],"context":{"a":` + deep + `}}`, nil},
		"call and context": {`{"context":{"a":` + deep + `},"batch":[` + bad + `]}`, nil},
		"a replaced batch": {`{"batch":[` + bad + `],"batch":[` + good + `]}`, nil},
		"what is no call":  {`{"batch":[` + good + `],"x":` + deep + `}`, nil},
	} {
		d := new(Decoder)
		err := d.Parse([]byte(c.body), "")
		if c.deep == nil {
			if p, ok := errors.AsType[*schemas.Violation](err); !ok || p.Code != schemas.CodeTooLarge {
				t.Errorf("%s: got %v", name, err)
			}
			continue
		}
		var got []bool
		for i := range d.calls {
			got = append(got, d.calls[i].deep)
		}
		if err != nil || !slices.Equal(got, c.deep) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
	if err := new(Decoder).Parse([]byte(`{"batch":[`+bad+`]`), ""); err == nil || !strings.Contains(err.Error(), "invalid_json") {
		t.Errorf("deep and cut off: got %v", err)
	}
}
