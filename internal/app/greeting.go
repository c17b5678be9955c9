package app

import (
	"context"
	"fmt"
	"io"

	"github.com/anabranch/anabranch/internal/console"
	"github.com/anabranch/anabranch/internal/service"
	"github.com/anabranch/anabranch/internal/workspace"
)

// receiver is the built-in receiver of the example workspace.
func (proc *Process) receiver(p *plumbing) service.Service {
	handler := console.NewReceiver(proc.Out, workspace.ExampleSharedSecret, proc.Color)
	return service.NewHTTPServer("receiver", p.receiverPort, handler, p.log)
}

// receiverURL is where the example workspace delivers to.
func (p *plumbing) receiverURL() string {
	return "http://" + p.receiverPort.Addr().String() + "/"
}

// greeting is the last service to start: it tells the person at the terminal
// that everything is ready, and what to type.
type greeting struct {
	out  io.Writer
	text func() string
}

// Name is the service's name in logs.
func (g *greeting) Name() string { return "greeting" }

// Run prints the text and waits for ctx to end.
func (g *greeting) Run(ctx context.Context) error {
	if _, err := io.WriteString(g.out, g.text()); err != nil {
		return fmt.Errorf("print the start-up text: %w", err)
	}
	<-ctx.Done()
	return nil
}
