package sdks

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/anabranch/anabranch/test/storm/books"
)

// The words that a program's lines begin with. Behind them stand the messageIds
// of the calls that the line is about.
const (
	wordSent     = "sent"     // in one request
	wordAccepted = "accepted" // as far as the SDK was told
	wordDropped  = "dropped"  // the SDK has given them up
)

// Count is what an SDK said of its calls, in calls: one that is sent twice counts
// as two.
type Count struct{ Sent, Accepted, Dropped int }

// enter reads a program's lines to their end and enters them into the books.
func enter(lines io.Reader, b *books.Books) (Count, error) {
	var count Count
	scanner := bufio.NewScanner(lines)
	scanner.Buffer(nil, 1<<20) // a batch's messageIds
	for scanner.Scan() {
		word, stamps, err := parseLine(scanner.Text())
		if err != nil {
			return count, err
		}
		count.add(word, len(stamps))
		for _, s := range stamps {
			switch word {
			case wordSent:
				b.Offered(s)
			case wordAccepted:
				b.Promised(s)
			}
		}
	}
	return count, scanner.Err()
}

func (c *Count) add(word string, n int) {
	switch word {
	case wordSent:
		c.Sent += n
	case wordAccepted:
		c.Accepted += n
	case wordDropped:
		c.Dropped += n
	}
}

// parseLine reads one line of a program. A line of any other kind is an error:
// one that is passed over might be a promise.
func parseLine(line string) (word string, stamps []books.Stamp, err error) {
	fields := strings.Fields(line)
	if len(fields) < 2 {
		return "", nil, fmt.Errorf("parse line %q of an SDK: expected a word and messageIds", line)
	}
	switch word = fields[0]; word {
	case wordSent, wordAccepted, wordDropped:
	default:
		return "", nil, fmt.Errorf("parse line of an SDK: expected sent, accepted or dropped, found %q", word)
	}
	for _, id := range fields[1:] {
		s, err := books.ParseStamp(id)
		if err != nil {
			return "", nil, err
		}
		stamps = append(stamps, s)
	}
	return word, stamps, nil
}
