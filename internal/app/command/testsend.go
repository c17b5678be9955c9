package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/internal/messagetrace"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
	"github.com/anabranch/anabranch/schemas"
	webhooksink "github.com/anabranch/anabranch/webhook-sink"
	"github.com/anabranch/anabranch/webhook-sink/testsend"
)

func testSendCommand() Command {
	return Command{
		Name: "test-send", Args: "[--json] [--endpoint N] [--type T|--event ID] DESTINATION", Operands: true,
		Summary: "one webhook to a destination, and what it answers",
		Help: "Sends one webhook to the endpoints of a destination of the workspace in force, as the\n" +
			"webhook sink would: with its client, guard of addresses, TLS, signature and settings\n" +
			"(WEBHOOK_SINK_*, SECRETS_KEY). It prints the request, the answer with its first kilobyte,\n" +
			"and what that would mean for an event; secrets are not shown. The event is an example, or\n" +
			"one that is stored, with its own messageId. It counts as no delivery: nothing is written,\n" +
			"and an endpoint that is down is asked all the same. The exit code is 0 when each endpoint\n" +
			"took it, else 1.",
		Role:  testSendRole(),
		Flags: testSendFlags,
	}
}

// testSendRole is what somebody must be allowed who makes test deliveries.
func testSendRole() acl.Role {
	return acl.Role{Name: "test-send", Does: "makes a test delivery", Rules: slices.Concat(
		acl.Topic(schemas.TopicWorkspace, "knows endpoints", acl.Read),
		acl.Topic(schemas.TopicRawEvents, "finds the event of --event", acl.Read),
	)}
}

// testSend is what a person asks for.
type testSend struct {
	answer

	destination string
	endpoint    int
	of          string // type
	query       messagetrace.Query
}

func testSendFlags(set *flag.FlagSet) Run {
	now := time.Now()
	t := &testSend{answer: answering(set, jsonObject), query: messagetrace.Query{Since: now.Add(-usualTrace).UTC(), Until: now.Add(time.Minute)}}
	set.Func("endpoint", "send to this one of its endpoints alone, from 1 (default all)", func(text string) (err error) {
		if t.endpoint, err = strconv.Atoi(text); err != nil || t.endpoint < 1 {
			return errors.New("expected a number from 1")
		}
		return nil
	})
	set.StringVar(&t.of, "type", "", "send the example of this type: "+typeNames()+" (default track)")
	set.StringVar(&t.query.MessageID, "event", "", "send the event with this messageId, which raw-events has")
	set.StringVar(&t.query.User, "user", "", "with --event: the userId of the call, else its anonymousId; makes the search fast")
	set.Func("since", "with --event: only calls taken since: 24h (the default), 2026-11-21T08:30:00Z or 2026-11-21", func(text string) (err error) {
		t.query.Since, err = deadletters.ParseTime(text, now)
		return err
	})
	return func(ctx context.Context, program settings.Program, args []string) error {
		if err := t.operands(args, "a destination"); err != nil {
			return err
		}
		if t.of != "" && t.query.MessageID != "" {
			return fmt.Errorf("%s: expected either --type or --event, found both", t.name)
		}
		if t.query.User != "" && t.query.MessageID == "" {
			return fmt.Errorf("%s: --user goes with --event", t.name)
		}
		t.destination = args[0]
		return t.run(ctx, program)
	}
}

func typeNames() string {
	types := testsend.Types()
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}

func (t *testSend) run(ctx context.Context, program settings.Program) error {
	proc, err := program.OpenBeside()
	if err != nil {
		return err
	}
	sink := SinkConfig(proc.Config.Stages)
	if sink == nil {
		return fmt.Errorf("%s: this program has no webhook sink", t.name)
	}
	c, err := connect(proc)
	if err != nil {
		return err
	}
	defer c.close()
	state, err := inTime(ctx, func(ctx context.Context) (wstopic.State, error) {
		if awaited := c.await(ctx); awaited != nil {
			return wstopic.State{}, awaited
		}
		return wstopic.Read(ctx, c.opts)
	})
	if err != nil {
		return err
	}
	ws := proc.Config.Keys().Open(state.Snapshot)
	d, known := ws.Destination(t.destination)
	if !known {
		return fmt.Errorf("%s: the workspace has no destination %s", t.name, terminal.Safe(t.destination))
	}
	event, err := t.event(ctx, program, &messagetrace.Log{Topics: c.topics, Workspace: ws})
	if err != nil {
		return err
	}
	sender, err := testsend.New(*sink, receivers(&proc.Config)...)
	if err != nil {
		return err
	}
	defer sender.Close()
	return t.send(ctx, program, sender, d, event)
}

// event is what is sent.
func (t *testSend) event(ctx context.Context, program settings.Program, log *messagetrace.Log) ([]byte, error) {
	if t.query.MessageID == "" {
		of := testsend.Types()[0]
		if t.of != "" {
			of = schemas.Type(t.of)
		}
		event, err := testsend.Example(of, time.Now())
		if err != nil {
			return nil, fmt.Errorf("%s: --type: %w", t.name, err)
		}
		return event, nil
	}
	p := progressOn(program, 0)
	log.Progress = back(p)
	call, searched, err := messagetrace.Stored(ctx, log, t.query)
	p.Clear()
	switch {
	case err != nil:
		return nil, err
	case call == nil:
		return nil, fmt.Errorf("%s: there is no event %s: searched %s", t.name, terminal.Safe(t.query.MessageID), searched.Text())
	}
	return call.Value, nil
}

func (t *testSend) send(ctx context.Context, program settings.Program, sender *testsend.Sender, d *workspace.Destination, event []byte) error {
	report, err := sender.Send(ctx, d, t.endpoint, event)
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	if err = one(t.answer, program.Out, report, testsend.Print); err != nil {
		return err
	}
	if !report.Delivered() {
		return fmt.Errorf("%s: not every endpoint took it", t.name)
	}
	return nil
}

// SinkConfig returns the settings of the webhook sink among some stages; nil: it is not one
// of them.
func SinkConfig(stages pipeline.Stages) *webhooksink.Config {
	for _, s := range stages {
		if cfg, is := s.Config.(*webhooksink.Config); is {
			return cfg
		}
	}
	return nil
}
