package command

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"net/netip"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/receiver"
	"github.com/anabranch/anabranch/internal/service"
	"github.com/anabranch/anabranch/schemas"
)

func receiveCommand() Command {
	return Command{
		Name: "receive", Args: "[--addr A] [--secret S]",
		Summary: "a webhook receiver that verifies and prints each delivery",
		Help:    "Runs a webhook receiver that checks the signature of each delivery and prints it.",
		Flags: func(flags *flag.FlagSet) Run {
			addr := flags.String("addr", "127.0.0.1:8082", "listen address")
			secret := flags.String("secret", "", "shared secret that deliveries are signed with (default RECEIVER_SECRET, which `ps` does not show)")
			return func(ctx context.Context, program settings.Program, _ []string) error {
				proc, err := program.Open()
				if err != nil {
					return err
				}
				return receive(ctx, proc, *addr, cmp.Or(schemas.Secret(*secret), proc.Config.ReceiverSecret))
			}
		},
	}
}

// receive runs the webhook receiver by itself until ctx ends. An empty secret
// means that deliveries are not expected to be signed.
func receive(ctx context.Context, proc settings.Process, addr string, secret schemas.Secret) error {
	l, err := service.Listen(ctx, "--addr", addr)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(proc.Out, "webhook receiver on http://%s/%s\n", l.Addr(), opening(l.Addr().String())); err != nil {
		return fmt.Errorf("print the address: %w", err)
	}
	handler := answersHealthz(receiver.New(proc.Out, secret, proc.Color))
	return service.Run(ctx, proc.Log, []service.Service{service.NewHTTPServer("receiver", l, handler, proc.Log)})
}

// opening says which setting lets a sink deliver to an address that is not public;
// nothing of one that stands for all.
func opening(addr string) string {
	at, err := netip.ParseAddrPort(addr)
	if ip := at.Addr().Unmap().WithZone(""); err == nil && (ip.IsLoopback() || ip.IsPrivate()) {
		return fmt.Sprintf(" (a sink delivers there with WEBHOOK_SINK_ALLOW_NETWORKS=%s)", netip.PrefixFrom(ip, ip.BitLen()))
	}
	return ""
}
