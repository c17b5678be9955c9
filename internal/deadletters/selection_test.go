package deadletters

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

func TestSelectionMatches(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	dead := &Letter{Record: &kgo.Record{}, Headers: schemas.Headers{Destination: "crm", Reason: schemas.ReasonStatus4xx, FailedAt: noon}}
	old := &Letter{Record: &kgo.Record{Timestamp: noon.Add(-time.Hour)}} // its headers can't be read
	for name, c := range map[string]struct {
		selected  Selection
		dead, old bool
	}{
		"all":                 {Selection{}, true, true},
		"destination":         {Selection{Destination: "crm"}, true, false},
		"another destination": {Selection{Destination: "crm2"}, false, false},
		"reason":              {Selection{Reason: schemas.ReasonStatus4xx}, true, false},
		"another reason":      {Selection{Reason: schemas.ReasonTLS}, false, false},
		"since then":          {Selection{Since: noon}, true, false},
		"since later":         {Selection{Since: noon.Add(1)}, false, false},
		"since before":        {Selection{Since: noon.Add(-time.Hour)}, true, true},
		"one of two fails":    {Selection{Destination: "crm", Reason: schemas.ReasonTLS}, false, false},
	} {
		if got := c.selected.matches(dead); got != c.dead {
			t.Errorf("%s: matches = %t, want %t", name, got, c.dead)
		}
		if got := c.selected.matches(old); got != c.old {
			t.Errorf("%s: the unreadable one matches = %t, want %t", name, got, c.old)
		}
	}
}

func TestSelectionValidate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		selected Selection
		want     string
	}{
		"all":             {Selection{}, ""},
		"filters":         {Selection{Destination: "crm", Reason: schemas.ReasonTLS, Since: time.Now()}, ""},
		"ids":             {Selection{IDs: []ID{{1, 2}}}, ""},
		"ids and filters": {Selection{IDs: []ID{{1, 2}}, Destination: "crm"}, "found both"},
		"reason":          {Selection{Reason: "bored"}, "--reason=bored: expected one of [status_3xx"},
		"destination":     {Selection{Destination: "C R M"}, "--destination=C R M: expected"},
	} {
		err := c.selected.Validate()
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Validate = %v, want %q in it", name, err, c.want)
		}
	}
}
