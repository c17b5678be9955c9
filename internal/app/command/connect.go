package command

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/topics"
)

// commandTimeout is when a command that speaks to a broker gives up. A stage
// never does.
const commandTimeout = 10 * time.Second

// connection is how a command reaches KAFKA_BROKERS, else the embedded broker of a
// running `anabranch run`. Nothing has been sent when it is made.
type connection struct {
	brokers []string
	opts    []kgo.Opt
	topics  *topics.Admin
	close   func()
	// await returns when a broker has answered, or with an error that says which
	// setting names them.
	await func(context.Context) error
}

// log is where events and dead letters are read.
func (c *connection) log() *deadletters.Log {
	return &deadletters.Log{Kafka: c.opts, Topics: c.topics}
}

// connect makes a connection, which is the caller's to close.
func connect(proc settings.Process) (*connection, error) {
	brokers, err := proc.Config.Brokers()
	if err != nil {
		return nil, err
	}
	opts, err := brokers.Options(proc.Log)
	if err != nil {
		return nil, err
	}
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, fmt.Errorf("create Kafka client: %w", err)
	}
	admin := topics.New(cl, proc.Config.Topics)
	return &connection{
		brokers: brokers.Brokers,
		opts:    opts,
		topics:  admin,
		close:   cl.Close,
		await: func(ctx context.Context) error {
			if err := kafka.Await(ctx, opts, brokers.Brokers, proc.Log); err != nil {
				return fmt.Errorf("%w (set KAFKA_BROKERS, or BROKER_ADDR and DATA_DIR to those of a running `anabranch run`)", err)
			}
			_, err := admin.Recognise(ctx)
			return err
		},
	}, nil
}

// beside connects to the brokers that a command is about, and gives up when none answers in
// time. What do does with them has bounds of its own: to read a long topic takes longer than
// to find out that nobody is there.
func beside(ctx context.Context, program settings.Program, do func(settings.Process, *connection) error) error {
	proc, err := program.OpenBeside()
	if err != nil {
		return err
	}
	c, err := connect(proc)
	if err != nil {
		return err
	}
	defer c.close()
	if _, err = inTime(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, c.await(ctx) }); err != nil {
		return err
	}
	return do(proc, c)
}
