package books

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Stamp says where and when an event was made. It travels as the event's
// messageId, which every stage passes on unchanged.
type Stamp struct {
	Run      string // of the bench; events of earlier runs are nobody's
	Producer string // what the load was for: a destination, or the whole process
	Key      int    // the user
	Sequence int    // counts the producer's events from 0, in the order of their making
	At       time.Time
}

// separator is in no run's and no producer's name, both of which are ids.
const separator = "/"

// String is the stamp as a messageId; its time has microseconds.
func (s Stamp) String() string {
	return strings.Join([]string{
		s.Run, s.Producer, strconv.Itoa(s.Key), strconv.Itoa(s.Sequence), strconv.FormatInt(s.At.UnixMicro(), 10),
	}, separator)
}

// ParseStamp reads what String wrote.
func ParseStamp(text string) (Stamp, error) {
	parts := strings.Split(text, separator)
	if len(parts) != 5 {
		return Stamp{}, fmt.Errorf("parse stamp %q: expected run/producer/key/sequence/microseconds", text)
	}
	s := Stamp{Run: parts[0], Producer: parts[1]}
	var numbers [3]int64
	for i, part := range parts[2:] {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || n < 0 {
			return Stamp{}, fmt.Errorf("parse stamp %q: expected a number, found %q", text, part)
		}
		numbers[i] = n
	}
	s.Key, s.Sequence, s.At = int(numbers[0]), int(numbers[1]), time.UnixMicro(numbers[2])
	return s, nil
}

var messageID = []byte(`"messageId":"`)

// StampOf finds the stamp of a delivery's body. Decoding the JSON would cost the
// bench more than the delivery costs the product.
func StampOf(body []byte) (Stamp, error) {
	_, rest, found := bytes.Cut(body, messageID)
	id, _, closed := bytes.Cut(rest, []byte{'"'})
	if !found || !closed {
		return Stamp{}, fmt.Errorf("no messageId in a body of %d bytes", len(body))
	}
	return ParseStamp(string(id))
}
