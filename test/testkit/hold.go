package testkit

import (
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// HoldProduce keeps the next produce request at the broker until release is called;
// held is closed when it is there.
func HoldProduce(c *kfake.Cluster) (held <-chan struct{}, release func()) {
	arrived, open := make(chan struct{}), make(chan struct{})
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.DropControl()
		close(arrived)
		c.SleepControl(func() { <-open })
		return nil, nil, false
	})
	return arrived, func() { close(open) }
}
