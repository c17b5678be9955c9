package runner

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestATransactionThatTheBrokersForget: a transaction was decided, and its end never
// reached the group. Its router ends it and goes on: behind it, when it knows that
// the transaction was committed, or with its events once more.
func TestATransactionThatTheBrokersForget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		untold    bool // the answer to its end is lost as well
		restarted bool // the router that made the transaction is gone
		unkept    bool // and so is the copy of its offsets
		routed    int  // events on the destination's topic in the end
	}{
		"its router lives":            {routed: 2},
		"its router was not told":     {untold: true, routed: 2},
		"its router was started anew": {restarted: true, routed: 2},
		"nobody knows of it":          {restarted: true, unkept: true, routed: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, testkit.Virtual(t))
				ended := b.forget()
				line := new(restart)
				if c.untold {
					b.cutEnd(line)
				}
				if c.unkept {
					var none kadm.Offsets // the group has been somewhere
					for num := range int32(3) {
						none.AddOffset(source, num, 0, -1)
					}
					if err := b.admin(t).CommitAllOffsets(t.Context(), group, none); err != nil {
						t.Fatal(err)
					}
					b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.GroupAuthorizationFailed, Count: -1})
				}
				run := func() (stop func()) {
					return start(t, b.runner(t, func(set *Settings) {
						set.Kafka = slices.Concat(set.Kafka, b.Options(), []kgo.Opt{kgo.Dialer(line.dial(b))})
					}))
				}
				stop := run()
				b.send(t, event("u", 1))
				b.ReadAll(t, crm, 1)
				if c.restarted {
					stop()
					stop = run()
				} else {
					// The brokers restart: who was a member is none any more.
					b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Err: kerr.UnknownMemberID, TopLevel: true})
				}
				defer stop()
				virtual.Sleep(10 * time.Second)
				b.send(t, event("u", 2))
				virtual.Sleep(10 * time.Second)
				if ended.Load() == c.restarted { // what it does not know may still be open
					t.Errorf("the transaction was ended: %t", ended.Load())
				}
				virtual.Sleep(30 * time.Second)
				if !ended.Load() {
					t.Error("the transaction was not ended")
				}
				b.ReadAll(t, crm, c.routed)
			})
		})
	}
}

// cutEnd has the answer to the end of the first transaction lost.
func (b *bench) cutEnd(line *restart) {
	var once atomic.Bool
	b.Fake.ControlKey(int16(kmsg.EndTxn), func(kmsg.Request) (kmsg.Response, error, bool) {
		if !once.Swap(true) {
			line.until.Store(time.Now().Add(5 * time.Second).UnixNano())
		}
		return nil, nil, false
	})
}

// restart is a network that is down for a while: what is answered meanwhile is lost.
type restart struct{ until atomic.Int64 }

func (o *restart) down() bool { return time.Now().UnixNano() < o.until.Load() }

func (o *restart) dial(b *bench) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if o.down() {
			return nil, errors.New("no route to host")
		}
		conn, err := b.Dial(ctx, network, addr)
		return &line{conn, o}, err
	}
}

// line is a connection over it.
type line struct {
	net.Conn

	restart *restart
}

func (l *line) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if l.restart.down() {
		return 0, errors.Join(errors.New("connection reset"), l.Close())
	}
	return n, err
}

// forget has the brokers lose the end of the group's first transaction: what it
// commits stays pending until its producer ends one in which it has named the group.
func (b *bench) forget() (ended *atomic.Bool) {
	ended = new(atomic.Bool)
	raw := b.Fake.TopicInfo(source).TopicID
	pending, named := false, false
	control := func(key kmsg.Key, answer func(kmsg.Request) kmsg.Response) {
		b.Fake.ControlKey(int16(key), func(req kmsg.Request) (kmsg.Response, error, bool) {
			b.Fake.KeepControl()
			resp := answer(req)
			return resp, nil, resp != nil
		})
	}
	control(kmsg.TxnOffsetCommit, func(req kmsg.Request) kmsg.Response {
		if pending {
			return nil
		}
		pending = true
		return acceptCommit(req.(*kmsg.TxnOffsetCommitRequest))
	})
	control(kmsg.AddOffsetsToTxn, func(kmsg.Request) kmsg.Response { named = true; return nil })
	control(kmsg.EndTxn, func(kmsg.Request) kmsg.Response { ended.Store(ended.Load() || named); return nil })
	control(kmsg.OffsetFetch, func(req kmsg.Request) kmsg.Response {
		if fetch := req.(*kmsg.OffsetFetchRequest); fetch.RequireStable && pending && !ended.Load() {
			return unstable(fetch, raw)
		}
		return nil
	})
	return ended
}

// unstable answers that the offsets of raw-events are pending.
func unstable(req *kmsg.OffsetFetchRequest, raw [16]byte) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.OffsetFetchResponse)
	for i := range req.Groups {
		group := kmsg.NewOffsetFetchResponseGroup()
		group.Group = req.Groups[i].Group
		topic := kmsg.NewOffsetFetchResponseGroupTopic()
		topic.Topic, topic.TopicID = source, raw
		for partition := range topicConfig.Partitions {
			p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
			p.Partition, p.Offset, p.ErrorCode = int32(partition), -1, kerr.UnstableOffsetCommit.Code
			topic.Partitions = append(topic.Partitions, p)
		}
		group.Topics = append(group.Topics, topic)
		resp.Groups = append(resp.Groups, group)
	}
	return resp
}

// acceptCommit answers that all is committed.
func acceptCommit(req *kmsg.TxnOffsetCommitRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.TxnOffsetCommitResponse)
	for _, t := range req.Topics {
		rt := kmsg.NewTxnOffsetCommitResponseTopic()
		rt.Topic = t.Topic
		for _, p := range t.Partitions {
			rp := kmsg.NewTxnOffsetCommitResponseTopicPartition()
			rp.Partition = p.Partition
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}
