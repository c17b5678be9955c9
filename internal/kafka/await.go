package kafka

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/logging"
	"github.com/anabranch/anabranch/internal/waiting"
)

const (
	pingTimeout = 2 * time.Second
	pingPause   = 500 * time.Millisecond
)

// Await returns when a broker has answered a client made with opts. Containers
// start in any order, so a broker that is not there yet is not an error: the
// first failure is logged with the addresses and the cause within seconds, and
// then again now and then. It ends with an error only when ctx does.
func Await(ctx context.Context, opts []kgo.Opt, brokers []string, log *slog.Logger) error {
	// Without retries of its own the client says why a broker cannot be reached;
	// with them it says that time ran out.
	cl, err := kgo.NewClient(append(slices.Clone(opts), kgo.RequestRetries(0))...)
	if err != nil {
		return fmt.Errorf("create client of brokers %s: %w", strings.Join(brokers, ","), err)
	}
	defer cl.Close()
	var complaints logging.Sampler[string]
	var last error
	for {
		err := ping(ctx, cl)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("reach brokers %s: %w: %w", strings.Join(brokers, ","), context.Cause(ctx), firstAdvised(cmp.Or(last, err)))
		}
		last = err
		if _, ok := complaints.Admit("", time.Now()); ok {
			complain(log, brokers, err)
		}
		waiting.Sleep(ctx, pingPause)
	}
}

// complain tells brokers that are away from those that will go on to refuse us
// until somebody acts.
func complain(log *slog.Logger, brokers []string, err error) {
	if FirstAdvice(err) == "" {
		log.Warn("brokers do not answer, retrying", "brokers", brokers, "variable", "KAFKA_BROKERS", "error", err)
		return
	}
	log.Error("the brokers refuse the connection, retrying", "brokers", brokers, "error", firstAdvised(err))
}

func firstAdvised(err error) error { return advised(err, FirstAdvice(err)) }

func ping(ctx context.Context, cl *kgo.Client) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	return cl.Ping(ctx)
}
