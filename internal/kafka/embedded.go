package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// EmbeddedCluster is the cluster id of every embedded broker. Those of Apache Kafka are
// random, and have 22 characters.
const EmbeddedCluster = "anabranch"

// Embedded reports whether a client speaks to the embedded broker of an `anabranch run`,
// whichever setting has led there.
func Embedded(ctx context.Context, cl *kgo.Client) (bool, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // none: nil would be all
	resp, err := cl.Request(ctx, req)
	if err != nil {
		return false, fmt.Errorf("ask the brokers for the id of their cluster: %w", err)
	}
	metadata, ok := resp.(*kmsg.MetadataResponse)
	if !ok {
		return false, errors.New("ask the brokers for the id of their cluster: the answer is of another kind")
	}
	return metadata.ClusterID != nil && *metadata.ClusterID == EmbeddedCluster, nil
}
