package kafka

import (
	"context"
	"log/slog"

	"github.com/anabranch/anabranch/internal/logging"
)

// adviceKey is the attribute that holds an advice.
const adviceKey = "advice"

// Advising returns a handler that adds to each record about an error of which
// [Advice] knows something what that is, in the attribute "advice". Whatever
// component meets a refusal first and however often it tries again, the log says
// what to do about it: at once, and then every ten seconds while it lasts. What
// repeats in between is left out.
func Advising(h slog.Handler) slog.Handler {
	return advising{h, new(logging.Sampler[string])}
}

type advising struct {
	slog.Handler

	said *logging.Sampler[string]
}

// Handle implements [slog.Handler].
func (a advising) Handle(ctx context.Context, r slog.Record) error {
	text, advice := adviceOn(r)
	if advice == "" {
		return a.Handler.Handle(ctx, r)
	}
	if _, ok := a.said.Admit(r.Message+"\x00"+text, r.Time); !ok {
		return nil
	}
	if !saysAdvice(text, advice) {
		r = r.Clone()
		r.AddAttrs(slog.String(adviceKey, advice))
	}
	return a.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (a advising) WithAttrs(attrs []slog.Attr) slog.Handler {
	return advising{a.Handler.WithAttrs(attrs), a.said}
}

// WithGroup implements [slog.Handler].
func (a advising) WithGroup(name string) slog.Handler {
	return advising{a.Handler.WithGroup(name), a.said}
}

// adviceOn returns the text of the record's error and the advice on it.
func adviceOn(r slog.Record) (text, advice string) {
	r.Attrs(func(attr slog.Attr) bool {
		if err, ok := attr.Value.Any().(error); ok {
			text, advice = err.Error(), Advice(err)
		}
		return advice == ""
	})
	return text, advice
}
