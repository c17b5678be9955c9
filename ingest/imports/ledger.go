package imports

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
)

// Entry is the value of a record in `imports`: how far an import is.
type Entry struct {
	File    string `json:"file"`
	Source  string `json:"source"`
	Deliver string `json:"deliver"`
	Counts

	RejectsBytes int64     `json:"rejectsBytes"` // length of the file of refused rows
	Done         bool      `json:"done"`
	StartedAt    time.Time `json:"startedAt"`
	UpdatedAt    time.Time `json:"updatedAt"`
}

// patience is how long brokers may have nothing to say.
const patience = 10 * time.Second

// lookUp returns what the topic says last of an import; nil when nothing. It is asked once
// the writer of a run that died is fenced.
func lookUp(ctx context.Context, cl *kgo.Client, opts []kgo.Opt, digest string) (*Entry, error) {
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	all, err := ranges.List(asking, cl, schemas.TopicImports, time.Time{})
	if err != nil {
		return nil, err
	}
	var last []byte
	err = ranges.Read(ctx, opts, ranges.Spans(schemas.TopicImports, all), ranges.Limits{Patience: patience}, func(_ *ranges.Span, r *kgo.Record) error {
		if string(r.Key) == digest {
			last = r.Value
		}
		return nil
	})
	if err != nil || last == nil {
		return nil, err
	}
	if err := schemas.CheckVersion(last); err != nil {
		return nil, fmt.Errorf("import %s: %w", digest, err)
	}
	e := new(Entry)
	if err := json.Unmarshal(last, e); err != nil {
		return nil, fmt.Errorf("import %s: decode its record in %s: %w", digest, schemas.TopicImports, err)
	}
	return e, nil
}

// record returns what the topic is told.
func (e *Entry) record(digest string, now time.Time) (*kgo.Record, error) {
	e.UpdatedAt = now.UTC().Truncate(time.Millisecond)
	value, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", digest, err)
	}
	return &kgo.Record{Topic: schemas.TopicImports, Key: []byte(digest), Value: value}, nil
}
