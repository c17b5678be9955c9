package broker

import (
	"math"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// readCommitted is the isolation level of those that must not see what was aborted.
	readCommitted = 1

	// leastShare is what each partition may take of a response at least, so that a
	// thousand of them take no more than 16 MiB.
	leastShare = 16 << 10
)

// bound is what a fetch may return, altogether and of one partition. Clients of one kind
// ask for the same.
type bound struct{ total, partition int32 }

// shares divides the room of a response among the partitions of a fetch in advance, so that
// the response never reaches its limit: kfake ends it there without the list of the aborted
// transactions of the partition at which it stopped, and the client takes their records for
// committed.
type shares struct {
	// most is how many partitions a request of a kind has named at most. A fetch session
	// names all of them once, and later those alone that have moved.
	most map[bound]int
}

// use has the cluster divide each fetch. Whoever fetches what was not committed too is not
// concerned.
func (s shares) use(cluster *kfake.Cluster) {
	cluster.ControlKey(kmsg.Fetch.Int16(), func(request kmsg.Request) (kmsg.Response, error, bool) {
		if fetch, ok := request.(*kmsg.FetchRequest); ok && fetch.IsolationLevel == readCommitted {
			s.divide(fetch)
		}
		return nil, nil, false // kfake answers it, and keeps a control that has not
	})
}

// divide changes a request before it is answered.
func (s shares) divide(fetch *kmsg.FetchRequest) {
	count := 0
	for _, topic := range fetch.Topics {
		count += len(topic.Partitions)
	}
	for _, topic := range fetch.Topics {
		for i := range topic.Partitions {
			p := &topic.Partitions[i]
			p.PartitionMaxBytes = s.share(bound{fetch.MaxBytes, p.PartitionMaxBytes}, count)
		}
	}
	fetch.MaxBytes = math.MaxInt32
}

// share is how much one of the partitions may take that a request names.
func (s shares) share(b bound, count int) int32 {
	count = max(count, s.most[b])
	s.most[b] = count
	return min(b.partition, max(b.total/int32(count), leastShare))
}
