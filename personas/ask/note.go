package ask

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/state"
	"github.com/anabranch/anabranch/schemas"
)

// noteKind is what is noted about a user, while users are put on piles.
type noteKind uint64

const (
	held   noteKind = iota // what the stage keeps; a later one stands for an earlier one
	called                 // a call
	heard                  // what was told
)

// errNote says that what was put aside is not what comes back.
var errNote = errors.New("what was put aside of a user was changed")

// appendNote begins a note about a user. What is noted follows.
func appendNote(to []byte, kind noteKind, user string) []byte {
	return appendText(binary.AppendUvarint(to, uint64(kind)), user)
}

func appendCall(to []byte, rec *kgo.Record, h *schemas.Headers) []byte {
	to = binary.AppendVarint(to, rec.Offset)
	to = binary.AppendVarint(to, rec.Timestamp.UnixMilli())
	for _, text := range []string{string(h.Type), h.Source, h.MessageID} {
		to = appendText(to, text)
	}
	return append(to, rec.Value...)
}

// readCall reads what appendCall wrote. The call's slices are views of the note.
func readCall(r *state.Reader, call *engine.Call) error {
	call.Offset = r.Signed()
	received := time.UnixMilli(r.Signed()).UTC()
	h := schemas.Headers{Type: schemas.Type(r.Bytes()), Source: string(r.Bytes()), MessageID: string(r.Bytes())}
	if r.Failed {
		return errNote
	}
	return engine.ParseCall(call, r.Rest, &h, received)
}

func appendTold(to []byte, t *Told) ([]byte, error) {
	text, err := json.Marshal(t)
	return append(binary.AppendVarint(to, t.offset), text...), err
}

func readTold(r *state.Reader) (t Told, err error) {
	t.offset = r.Signed()
	return t, json.Unmarshal(r.Rest, &t)
}

func appendText[T string | []byte](to []byte, text T) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}
