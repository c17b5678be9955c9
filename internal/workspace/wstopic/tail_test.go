package wstopic

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestSettled(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		end, next int64
		open      bool
		idle      int64
		want      bool
	}{
		"an empty topic":                     {want: true},
		"nothing read yet":                   {end: 5},
		"something read":                     {end: 5, next: 4},
		"at the end":                         {end: 5, next: 5, want: true},
		"past the end":                       {end: 5, next: 9, want: true},
		"in the middle of a transaction":     {end: 5, next: 9, open: true},
		"one fetch that may have come late":  {end: 5, next: 3, idle: 1},
		"the last records were compacted":    {end: 5, next: 3, idle: 2, want: true},
		"the last marker, too":               {end: 5, next: 4, open: true, idle: 2, want: true},
		"at rest for long, at the end or no": {end: 5, next: 5, idle: 1000, want: true},
	}
	for name, tt := range tests {
		tail := &tail{end: tt.end, next: tt.next, open: tt.open, idle: new(idleFetches)}
		tail.idle.count.Store(tt.idle)
		if got := tail.settled(); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestIdleFetches(t *testing.T) {
	t.Parallel()
	held := kgo.BrokerE2E{ReadWait: longPoll / 2, TimeToRead: longPoll / 2}
	tests := map[string]struct {
		key  int16
		e2e  kgo.BrokerE2E
		want int64
	}{
		"held":               {fetchKey, held, 1},
		"answered at once":   {fetchKey, kgo.BrokerE2E{TimeToRead: time.Millisecond}, 0},
		"another request":    {3, held, 0},
		"a broken read":      {fetchKey, kgo.BrokerE2E{TimeToRead: longPoll, ReadErr: errors.New("EOF")}, 0},
		"a write that hangs": {fetchKey, kgo.BrokerE2E{TimeToWrite: longPoll, WriteErr: errors.New("EOF")}, 0},
	}
	for name, tt := range tests {
		var f idleFetches
		f.OnBrokerE2E(kgo.BrokerMetadata{}, tt.key, tt.e2e)
		if got := f.count.Load(); got != tt.want {
			t.Errorf("%s: counted %d", name, got)
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
		err := pollError(tt.fetches)
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
