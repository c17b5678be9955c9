// Command anabranch collects calls about users over HTTP, routes them through
// Kafka, and delivers them as signed webhooks. `anabranch help` lists what it
// can do.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/anabranch/anabranch/internal/app"
)

// stopBound is when a stop that does not come to its end is cut off: every unit
// of work in hand has a shorter bound of its own.
const stopBound = 8 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, func() {
		// From here on a second signal has its ordinary effect: it ends the process.
		stop()
		time.AfterFunc(stopBound, func() {
			fmt.Fprintf(os.Stderr, "anabranch: the stop took longer than %s and was cut off\n", stopBound)
			os.Exit(1)
		})
	})
	if err := app.Main(ctx, os.Args[1:], app.Streams{Out: os.Stdout, Err: os.Stderr}); err != nil {
		fmt.Fprintf(os.Stderr, "anabranch: %v\n", err)
		os.Exit(app.ExitCode(err))
	}
}
