package broker

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// asksVersions is the version in which librdkafka asks what a broker takes. Clients in Go
	// and Java ask in later ones, and need no help.
	asksVersions = 3
	// answerIn is how long a cluster may take to say what it takes.
	answerIn = 10 * time.Second
)

// offerHandshake has a cluster say that it takes the first version of a SASL handshake.
// librdkafka, of which kcat and the clients of most languages are made, authenticates with
// no broker that does not say so, though it goes on with the second, which kfake takes.
func offerHandshake(cluster *kfake.Cluster) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	if err != nil {
		return fmt.Errorf("create a client of the embedded broker: %w", err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), answerIn)
	defer cancel()
	request := kmsg.NewPtrApiVersionsRequest()
	request.ClientSoftwareName, request.ClientSoftwareVersion = "anabranch", "1"
	answer, err := request.RequestWith(ctx, client)
	if err != nil {
		return fmt.Errorf("ask the embedded broker what it takes: %w", err)
	}
	for i := range answer.ApiKeys {
		if key := &answer.ApiKeys[i]; key.ApiKey == kmsg.SASLHandshake.Int16() {
			key.MinVersion = 0
		}
	}
	cluster.ControlKey(kmsg.ApiVersions.Int16(), func(request kmsg.Request) (kmsg.Response, error, bool) {
		if request.GetVersion() != asksVersions {
			return nil, nil, false
		}
		cluster.KeepControl()
		said := *answer
		said.SetVersion(asksVersions)
		return &said, nil, true
	})
	return nil
}
