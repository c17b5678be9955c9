package router

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/schemas"
)

func TestRival(t *testing.T) {
	t.Parallel()
	const timeout = 10 * time.Second
	for name, c := range map[string]struct {
		err   error
		under circumstances
		want  bool
	}{
		"an id taken over between transactions":        {kerr.ProducerFenced, circumstances{}, true},
		"within one":                                   {fmt.Errorf("end transaction: %w", kerr.ProducerFenced), circumstances{open: time.Second}, true},
		"an epoch from another's start":                {kerr.InvalidProducerEpoch, circumstances{open: time.Second}, true},
		"the place in the group":                       {kerr.FencedInstanceID, circumstances{}, true},
		"the brokers aborted it: an older epoch":       {kerr.InvalidProducerEpoch, circumstances{open: timeout}, false},
		"the same, as coordinators say it":             {kerr.ProducerFenced, circumstances{open: timeout + time.Second}, false},
		"its own request, found behind a silence":      {kerr.ProducerFenced, circumstances{interrupted: true}, false},
		"its own join, found behind a silence":         {kerr.FencedInstanceID, circumstances{interrupted: true}, false},
		"a broker that is gone is no rival":            {errors.New("connection refused"), circumstances{}, false},
		"nor is a session that ended without an error": {nil, circumstances{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := rival(c.err, c.under, timeout); got != c.want {
				t.Errorf("rival = %t, want %t", got, c.want)
			}
		})
	}
}

// TestPulse: answers that come every second are a rhythm; a gap in it is what a
// broker that stood still leaves, or this process.
func TestPulse(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		beats []time.Duration
		at    time.Duration
		want  bool
	}{
		"before the first answer":          {nil, time.Second, false},
		"no answer at all":                 {nil, silence, true},
		"in rhythm":                        {[]time.Duration{1e9, 2e9, 3e9, 4e9, 5e9}, 6 * time.Second, false},
		"silent now":                       {[]time.Duration{1e9, 2e9}, 2*time.Second + silence, true},
		"just back":                        {[]time.Duration{1e9, 13e9}, 13 * time.Second, true},
		"back, and old requests are found": {[]time.Duration{1e9, 13e9, 14e9, 15e9}, 16 * time.Second, true},
		"back for long":                    {[]time.Duration{1e9, 13e9, 16e9, 19e9, 21e9}, 13*time.Second + aftermath, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPulse(start)
			for _, at := range c.beats {
				p.beat(start.Add(at))
			}
			if got := p.interrupted(start.Add(c.at)); got != c.want {
				t.Errorf("interrupted = %t, want %t", got, c.want)
			}
		})
	}
}

// TestASilentBrokerIsNoRival: brokers that stand still for longer than a transaction
// may be open, or a session without a heartbeat, say afterwards what they say when
// another router takes over.
func TestASilentBrokerIsNoRival(t *testing.T) {
	for name, c := range map[string]struct {
		answer kmsg.Key
		code   *kerr.Error
	}{
		"to a transaction":         {kmsg.EndTxn, kerr.ProducerFenced},
		"to a member of the group": {kmsg.Heartbeat, kerr.FencedInstanceID},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, r, logs := virtual(t)
				r.cfg.TransactionTimeout = 4 * time.Second
				r.set.InstanceID, r.set.Returns = "router-0", true
				silences := 0
				b.Fake.ControlKey(c.answer.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
					b.Fake.KeepControl()
					if silences++; silences > 4 { // within a minute
						return nil, nil, false
					}
					b.Fake.SleepControl(func() { time.Sleep(5 * time.Second) })
					return refuse(req, c.code), nil, true
				})
				start(t, r) // the test fails when Run returns an error
				b.send(t, users(20)...)
				time.Sleep(time.Minute)
				b.ReadAll(t, schemas.DeliverTopic("lake"), 20)
				b.ReadAll(t, schemas.DeliverTopic("crm"), 20)
				if n := logs.Count("router session ended"); n < 4 {
					t.Errorf("%d sessions ended, want more than end a router that has a rival", n)
				}
			})
		})
	}
}

func refuse(req kmsg.Request, code *kerr.Error) kmsg.Response {
	resp := req.ResponseKind()
	switch resp := resp.(type) {
	case *kmsg.EndTxnResponse:
		resp.ErrorCode = code.Code
	case *kmsg.HeartbeatResponse:
		resp.ErrorCode = code.Code
	}
	return resp
}
