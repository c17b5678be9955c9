package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/schemas"
)

// tidy has the row's destinations taken off a broker that lives on: their
// partitions would weigh on the rows that follow. Topics that all rows use keep
// their number of partitions for ever, so a row that wants another one makes them
// anew, and has them made anew by the next row.
func (l *Lab) tidy(ctx context.Context, cl *kgo.Client, common bool) {
	shared := []string{schemas.TopicRawEvents, schemas.TopicDeadLetters}
	for delay := range strings.SplitSeq(retryDelays, ",") {
		if d, err := time.ParseDuration(delay); err == nil {
			shared = append(shared, schemas.RetryTopic(d))
		}
	}
	if common {
		l.deleteTopics(ctx, cl, shared)
	}
	l.cleanup = append(l.cleanup, func(ctx context.Context) {
		var mine []string
		for _, d := range l.workspace {
			mine = append(mine, d.Topic(), schemas.ReplayTopic(d.ID))
		}
		if common {
			mine = append(mine, shared...)
		}
		l.deleteTopics(ctx, cl, mine)
	})
}

// deleteTopics deletes topics and returns when they are gone.
func (l *Lab) deleteTopics(ctx context.Context, cl *kgo.Client, names []string) {
	if len(names) == 0 {
		return // a request without names is about all topics
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis = 15_000
	for _, name := range names {
		topic := kmsg.NewDeleteTopicsRequestTopic()
		topic.Topic = &name
		req.Topics = append(req.Topics, topic)
		req.TopicNames = append(req.TopicNames, name)
	}
	_, err := req.RequestWith(ctx, cl)
	for err == nil && remain(ctx, cl, names) {
		err = Pause(ctx, 50*time.Millisecond)
	}
	if err != nil {
		fmt.Printf("%s: topics were left behind: %v\n", l.row, err)
	}
}

// remain reports whether one of the topics is still there.
func remain(ctx context.Context, cl *kgo.Client, names []string) bool {
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range names {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = &name
		req.Topics = append(req.Topics, topic)
	}
	resp, err := req.RequestWith(ctx, cl)
	return err != nil || slices.ContainsFunc(resp.Topics, func(t kmsg.MetadataResponseTopic) bool {
		return t.ErrorCode != kerr.UnknownTopicOrPartition.Code
	})
}
