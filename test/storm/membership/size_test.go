package membership

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/schemas"
)

// maxRecord is what brokers take as one record of __consumer_offsets unless they are
// told otherwise (max.message.bytes). A group is one record: beyond that its members
// are answered UNKNOWN_SERVER_ERROR when they join (tried on Apache Kafka 4).
const maxRecord = 1 << 20

// TestHowManyDestinationsAGroupHolds is the table of docs/scaling.md. A member
// tells all topics that it wants and all partitions that it has, and is told what it
// gets; all of that, of all members, is the group's record.
func TestHowManyDestinationsAGroupHolds(t *testing.T) {
	t.Parallel()
	for _, destinations := range []int{50, 300, 1000, 2500, 5000, 10_000} {
		for _, sinks := range []int{1, 2, 4, 10} {
			size := groupBytes(destinations, sinks)
			t.Logf("%5d destinations, %2d sinks: %4d KiB", destinations, sinks, size>>10)
			if fits := destinations <= 2500; fits != (size < maxRecord) && sinks == 10 {
				t.Errorf("%d destinations and %d sinks take %d bytes of %d: docs/scaling.md says otherwise", destinations, sinks, size, maxRecord)
			}
		}
	}
}

// groupBytes is about the size of the record of a group of sinks, each destination
// having as many partitions as it gets by default and a name of 17 characters.
func groupBytes(destinations, sinks int) int {
	each := 1
	switch {
	case destinations <= 50:
		each = 6
	case destinations <= 300:
		each = 2
	}
	topics := make([]string, 0, destinations)
	has := make([]map[string][]int32, sinks)
	for i := range has {
		has[i] = make(map[string][]int32)
	}
	next := 0
	for i := range destinations {
		topic := schemas.DeliverTopic(fmt.Sprintf("destination-%05d", i))
		topics = append(topics, topic)
		for p := range each {
			has[next%sinks][topic] = append(has[next%sinks][topic], int32(p))
			next++
		}
	}
	size := 0
	for _, partitions := range has {
		var assignment kmsg.ConsumerMemberAssignment
		for topic, numbers := range partitions {
			assignment.Topics = append(assignment.Topics, kmsg.ConsumerMemberAssignmentTopic{Topic: topic, Partitions: numbers})
		}
		const names = 120 // of the member, of its instance, client and host
		size += len(kgo.CooperativeStickyBalancer().JoinGroupMetadata(topics, partitions, 1)) + len(assignment.AppendTo(nil)) + names
	}
	return size
}
