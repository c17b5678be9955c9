package cut

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// TopicID tells a topic from another one of the same name. Zero: the brokers do not say.
type TopicID = [16]byte

// Mark is what the group keeps for a partition: its offset and metadata.
type Mark struct {
	From int64 // all before is stored
	// To says that the objects of From to To are being written, To excluded; 0: no range was
	// announced.
	To int64
}

// Announced reports whether a range is being written.
func (m Mark) Announced() bool { return m.To > m.From }

// Metadata is the text that a commit of the mark carries: of which topic it is, and what is
// being written.
func (m Mark) Metadata(of TopicID) string {
	to := int64(0)
	if m.Announced() {
		to = m.To
	}
	return fmt.Sprintf(layout, hex.EncodeToString(of[:]), to)
}

// layout begins with its version.
const layout = "1 topic=%s to=%d"

// Parse reads what [Mark.Metadata] wrote. A text of another shape is an error: an offset that
// was set by hand has none, and is the last word.
func Parse(committed int64, metadata string) (m Mark, of TopicID, err error) {
	m.From = committed
	if metadata == "" {
		return m, of, nil
	}
	var id string
	if n, scanned := fmt.Sscanf(strings.TrimSpace(metadata), "1 topic=%32s to=%d", &id, &m.To); n != 2 || scanned != nil {
		return Mark{From: committed}, of, fmt.Errorf("metadata %.100q: expected %q", metadata, "1 topic=<id> to=<offset>")
	}
	bytes, err := hex.DecodeString(id)
	if err != nil || len(bytes) != len(of) || m.To != 0 && m.To <= committed {
		return Mark{From: committed}, of, fmt.Errorf("metadata %.100q: expected the id of a topic, and an offset beyond %d", metadata, committed)
	}
	return m, TopicID(bytes), nil
}
