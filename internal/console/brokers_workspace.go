package console

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/anabranch/anabranch/internal/apply"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// applier does as the command `apply` does, and prints to a writer.
func (b *Brokers) applier(out io.Writer, say func(string)) *apply.Applier {
	return &apply.Applier{
		Out: out, Kafka: b.Kafka, Keys: b.Publisher.Keys, Await: b.Topics.Recognise, Embedded: b.Topics.Embedded(), Permit: b.Permit,
		Ensure: func(ctx context.Context, exports map[string]schemas.Export, progress func(done, total int), topics ...string) error {
			return b.Topics.For(exports).EnsureInSteps(ctx, func(done, total int) {
				progress(done, total)
				say("created " + terminal.Count(int64(done)) + " of " + terminal.Count(int64(total)) + " topics")
			}, apply.Topics(b.Stages, topics...)...)
		},
	}
}

func (b *Brokers) planWorkspace(ctx context.Context, next *workspace.Snapshot) (*WorkspacePlan, error) {
	var text strings.Builder
	plan, err := b.applier(&text, nil).Plan(ctx, sentFile, next)
	if unknown, ok := errors.AsType[*apply.UnknownError](err); ok {
		return nil, unknown
	}
	if err != nil {
		return nil, &problem{http.StatusConflict, err.Error()}
	}
	there, err := b.Topics.Counts(ctx)
	if err != nil {
		return nil, err
	}
	missing := slices.DeleteFunc(apply.Topics(b.Stages, next.Topics()...), func(topic string) bool { return there[topic] > 0 })
	return &WorkspacePlan{Plan: plan, Difference: text.String(), Topics: missing}, nil
}

func (b *Brokers) applyWorkspace(ctx context.Context, plan *apply.Plan, say func(string)) (string, error) {
	var text strings.Builder
	err := b.applier(&text, say).Confirm(ctx, sentFile, plan)
	return text.String(), err
}
