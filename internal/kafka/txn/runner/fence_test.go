package runner

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/test/virtual"
)

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
				b, r := virtually(t, func(set *Settings) {
					set.TransactionTimeout, set.InstanceID, set.Returns = 4*time.Second, "router-0", true
				})
				silences := 0
				b.Fake.ControlKey(c.answer.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
					b.Fake.KeepControl()
					if silences++; silences > 4 { // within a minute
						return nil, nil, false
					}
					b.Fake.SleepControl(func() { virtual.Sleep(5 * time.Second) })
					return refuse(req, c.code), nil, true
				})
				start(t, r) // the test fails when Run returns an error
				b.send(t, users(20)...)
				virtual.Sleep(time.Minute)
				b.ReadAll(t, lake, 20)
				b.ReadAll(t, crm, 20)
				if n := r.logs.Count("session ended"); n < 4 {
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
