package wstopic

import (
	"context"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

func TestSettled(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		end, next int64
		open      bool
		want      bool
	}{
		"an empty topic":                 {want: true},
		"nothing read yet":               {end: 5},
		"something read":                 {end: 5, next: 4},
		"at the end":                     {end: 5, next: 5, want: true},
		"past the end":                   {end: 5, next: 9, want: true},
		"in the middle of a transaction": {end: 5, next: 9, open: true},
	}
	for name, tt := range tests {
		tail := &tail{end: tt.end, next: tt.next, open: tt.open}
		if got := tail.settled(); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestPollError(t *testing.T) {
	t.Parallel()
	gone := errors.New("the broker is gone")
	for name, tt := range map[string]struct {
		fetches kgo.Fetches
		want    string
	}{
		"none":            {nil, ""},
		"its own timeout": {kgo.NewErrFetch(context.DeadlineExceeded), ""},
		"the end":         {kgo.NewErrFetch(context.Canceled), ""},
		"another":         {kgo.NewErrFetch(gone), "fetch workspace: the broker is gone"},
		"behind others":   {append(kgo.NewErrFetch(context.Canceled), kgo.NewErrFetch(gone)...), "fetch workspace: the broker is gone"},
	} {
		err := (&tail{topic: schemas.TopicWorkspace}).pollError(tt.fetches)
		if got := errorText(err); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
