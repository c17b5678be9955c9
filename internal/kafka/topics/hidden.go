package topics

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/schemas"
)

// hidden returns those of the named topics that our principal may not see, whether
// they exist or not. The library tells only that there are some. It returns names
// themselves where that can't be found out.
func (t *Admin) hidden(ctx context.Context, names []string) []string {
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range names {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = &name
		req.Topics = append(req.Topics, topic)
	}
	resp, err := req.RequestWith(ctx, t.Client)
	if err != nil {
		return names
	}
	var hidden []string
	for _, topic := range resp.Topics {
		if topic.Topic != nil && topic.ErrorCode == kerr.TopicAuthorizationFailed.Code {
			hidden = append(hidden, *topic.Topic)
		}
	}
	return hidden
}

// unseen and uncreated say what to do about a topic that we may not see, or may see
// and not create.
func unseen(err error) error {
	return fmt.Errorf("%w (our principal lacks an ACL on each of them: %s)", err, acl.See)
}

func uncreated(topic string, partitions int, err error) error {
	if !errors.Is(err, kerr.TopicAuthorizationFailed) && !errors.Is(err, kerr.ClusterAuthorizationFailed) {
		return err
	}
	with := "`anabranch apply`"
	if schemas.PrefixOf(topic) == schemas.ReplayPrefix { // which is created for the first replay
		with = fmt.Sprintf("`kafka-topics.sh --create --topic %s --partitions %d`", topic, partitions)
	}
	return fmt.Errorf("%w (it does not exist, and our principal lacks the ACL Create on it: create it with %s, or grant the ACL; %s)", err, with, acl.See)
}
