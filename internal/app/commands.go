package app

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/console"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/service"
	"github.com/anabranch/anabranch/schemas"
)

// commandTimeout is when a command that speaks to a broker gives up. A stage
// never does.
const commandTimeout = 10 * time.Second

// Apply puts a workspace file in force on KAFKA_BROKERS, else on the embedded
// broker of a running `anabranch run`.
func Apply(ctx context.Context, proc Process, file string, dryRun bool) error {
	brokers := proc.Config.brokers()
	opts, err := brokers.Options(proc.Log)
	if err != nil {
		return err
	}
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		return fmt.Errorf("create Kafka client: %w", err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	topics := kafka.NewTopics(cl, proc.Config.Topics)
	applier := console.Applier{
		Out:    proc.Out,
		Kafka:  opts,
		Ensure: topics.Ensure,
		Await: func(ctx context.Context) error {
			if err := kafka.Await(ctx, opts, brokers.Brokers, proc.Log); err != nil {
				return fmt.Errorf("%w (set KAFKA_BROKERS, or BROKER_ADDR to that of a running `anabranch run`)", err)
			}
			return nil
		},
	}
	return applier.Apply(ctx, file, dryRun)
}

// Receive runs the webhook receiver by itself until ctx ends. An empty secret
// means that deliveries are not expected to be signed.
func Receive(ctx context.Context, proc Process, addr string, secret schemas.Secret) error {
	l, err := service.Listen(ctx, "--addr", addr)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(proc.Out, "webhook receiver on http://%s/\n", l.Addr()); err != nil {
		return fmt.Errorf("print the address: %w", err)
	}
	handler := console.NewReceiver(proc.Out, secret, proc.Color)
	return service.Run(ctx, proc.Log, []service.Service{service.NewHTTPServer("receiver", l, handler, proc.Log)})
}
