package command

import (
	"context"
	"flag"
	"fmt"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/console"
	"github.com/anabranch/anabranch/internal/service"
	"github.com/anabranch/anabranch/schemas"
)

func receiveCommand(ctx context.Context, args []string, streams settings.Streams) error {
	flags := flag.NewFlagSet("receive", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:8082", "listen address")
	secret := flags.String("secret", "", "shared secret that deliveries are signed with; empty: not signed")
	if err := parseFlags(flags, args, streams); err != nil {
		return err
	}
	proc, err := settings.Open(streams)
	if err != nil {
		return err
	}
	return receive(ctx, proc, *addr, schemas.Secret(*secret))
}

// receive runs the webhook receiver by itself until ctx ends. An empty secret
// means that deliveries are not expected to be signed.
func receive(ctx context.Context, proc settings.Process, addr string, secret schemas.Secret) error {
	l, err := service.Listen(ctx, "--addr", addr)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(proc.Out, "webhook receiver on http://%s/\n", l.Addr()); err != nil {
		return fmt.Errorf("print the address: %w", err)
	}
	handler := answersHealthz(console.NewReceiver(proc.Out, secret, proc.Color))
	return service.Run(ctx, proc.Log, []service.Service{service.NewHTTPServer("receiver", l, handler, proc.Log)})
}
