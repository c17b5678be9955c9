package wire

import (
	"encoding/json"
	"maps"

	"github.com/anabranch/anabranch/analytics/internal/encode"
)

// BatchContext encodes what is sent with every batch.
func BatchContext(usual, more map[string]any) ([]byte, error) {
	context := maps.Clone(usual)
	if context == nil {
		context = make(map[string]any, len(more))
	}
	maps.Copy(context, more)
	text, err := json.Marshal(context)
	switch {
	case err != nil:
		return nil, &encode.Error{Path: "context", Err: err}
	case len(text) > MaxBytes:
		return nil, encode.ErrTooLarge
	}
	return text, nil
}
