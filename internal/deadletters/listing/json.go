package listing

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/schemas"
)

// line is one dead letter for programs. Times are RFC 3339 in UTC.
type line struct {
	ID          string         `json:"id"` // as deadletters.ParseID reads it
	Destination string         `json:"destination"`
	Reason      schemas.Reason `json:"reason"`
	MessageID   string         `json:"messageId"`
	FailedAt    time.Time      `json:"failedAt"`
	Attempts    int            `json:"attempts"`
	Detail      string         `json:"detail,omitempty"`
	Type        schemas.Type   `json:"type,omitempty"`
	Source      string         `json:"source,omitempty"`
	Origin      schemas.Origin `json:"origin,omitempty"`
	From        *position      `json:"from,omitempty"`
	Reference   bool           `json:"reference,omitempty"` // the event has to be read at From
	RedrivenAt  *time.Time     `json:"redrivenAt,omitempty"`
	Unreadable  string         `json:"unreadable,omitempty"` // why fields above may be empty
}

type position struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

func newLine(l *deadletters.Letter) line {
	h := &l.Headers
	out := line{
		ID: l.ID.String(), Destination: h.Destination, Reason: h.Reason, MessageID: h.MessageID,
		FailedAt: l.FailedAt(), Attempts: h.Attempt, Detail: h.Detail, Type: h.Type, Source: h.Source, Origin: h.Origin, Reference: h.Reference,
	}
	if h.From.Topic != "" {
		out.From = &position{h.From.Topic, h.From.Partition, h.From.Offset}
	}
	if !l.RedrivenAt.IsZero() {
		out.RedrivenAt = &l.RedrivenAt
	}
	if l.Unreadable != nil {
		out.Unreadable = l.Unreadable.Error()
	}
	return out
}

// JSON prints one object a line for each of the selected dead letters.
func JSON(ctx context.Context, log *deadletters.Log, selected deadletters.Selection, w io.Writer) error {
	view, err := deadletters.Open(ctx, log, selected)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(terminal.Printable(out))
	lines.SetEscapeHTML(false)
	if err := view.Each(ctx, func(l *deadletters.Letter) error { return lines.Encode(newLine(l)) }); err != nil {
		return err
	}
	return out.Flush()
}
