package imports

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
)

// Listed is an import in a list, and the digest of its files.
type Listed struct {
	Digest string
	Entry
}

// List reads what the topic says of all imports, the first begun first.
func List(ctx context.Context, cl *kgo.Client, opts []kgo.Opt) ([]Listed, error) {
	held, err := ranges.List(ctx, cl, schemas.TopicImports, time.Time{})
	if err != nil {
		return nil, err
	}
	last := make(map[string]Entry)
	err = ranges.Read(ctx, opts, ranges.Spans(schemas.TopicImports, held), ranges.Limits{Patience: patience}, func(_ *ranges.Span, r *kgo.Record) error {
		var e Entry
		wrong := schemas.CheckVersion(r.Value)
		if wrong == nil {
			wrong = json.Unmarshal(r.Value, &e)
		}
		if wrong != nil {
			return fmt.Errorf("import %.100s: decode its record in %s: %w", r.Key, schemas.TopicImports, wrong)
		}
		last[string(r.Key)] = e
		return nil
	})
	all := make([]Listed, 0, len(last))
	for digest, e := range last {
		all = append(all, Listed{digest, e})
	}
	slices.SortFunc(all, func(a, b Listed) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.Digest, b.Digest))
	})
	return all, err
}
