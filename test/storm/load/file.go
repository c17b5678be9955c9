package load

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/storm/books"
)

// File is a file of calls for an import: gzip NDJSON.
type File struct {
	Path string
	Rows int
	// BadEvery n makes each n-th row one that is refused, for want of its event's name.
	BadEvery int
}

// Bad counts the rows that are refused.
func (f *File) Bad() int { return f.Rows / f.BadEvery }

// Write makes the file, of a producer that has so many users, and returns the stamps of
// those rows that are to be accepted, in their order.
func (f *File) Write(run, producer string, keys int) (good []books.Stamp, err error) {
	file, err := os.Create(f.Path)
	if err != nil {
		return nil, err
	}
	packed := gzip.NewWriter(file)
	text := bufio.NewWriter(packed)
	stamps := counter{run: run, producer: producer, keys: keys}
	for row := 1; row <= f.Rows; row++ {
		if row%f.BadEvery == 0 {
			_, _ = fmt.Fprintf(text, `{"type":"track","userId":"u%d"}`+"\n", row) // Flush tells
			continue
		}
		s := stamps.stamp(time.Now())
		_, _ = fmt.Fprintf(text, `{"messageId":%q,"type":"track","userId":%q,"event":"Storm","timestamp":%q}`+"\n", s, user(s), s.At.UTC().Format(schemas.TimeLayout))
		good = append(good, s)
	}
	return good, errors.Join(text.Flush(), packed.Close(), file.Close())
}
