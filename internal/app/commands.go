package app

import (
	"context"
	"fmt"

	"github.com/anabranch/anabranch/internal/console"
	"github.com/anabranch/anabranch/internal/service"
	"github.com/anabranch/anabranch/schemas"
)

// Apply puts a workspace file in force on KAFKA_BROKERS, else on the embedded
// broker of a running `anabranch run`.
func Apply(ctx context.Context, proc Process, file string, dryRun bool) error {
	c, err := connect(proc)
	if err != nil {
		return err
	}
	defer c.close()
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	applier := console.Applier{Out: proc.Out, Kafka: c.opts, Ensure: c.topics.Ensure, Await: c.await}
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
