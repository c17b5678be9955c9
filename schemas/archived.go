package schemas

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ArchivedName is that of an object in an archive: which events are in it. Names of one
// source sort by day, partition and offset: the events of a user are in their order then.
type ArchivedName struct {
	Source    string
	Day       time.Time // in UTC, in which ingest took the events
	Partition int32     // of the destination's topic
	// From and To are the range of offsets that was archived at once, To excluded. It is the
	// same for all objects of the range, whichever of its events are in them.
	From, To int64
}

// ArchivedSuffix ends the names of all objects.
const ArchivedSuffix = ".ndjson.gz"

// ArchivedDir is the directory of the objects with the events of a source that were taken on
// the day of a time: "website/2026-11-23".
func ArchivedDir(source string, taken time.Time) string {
	return source + "/" + taken.UTC().Format(time.DateOnly)
}

// String is the name:
// "website/2026-11-23/3-00000000000000012000-00000000000000013000.ndjson.gz".
func (n ArchivedName) String() string {
	return fmt.Sprintf("%s/%d-%020d-%020d%s", ArchivedDir(n.Source, n.Day), n.Partition, n.From, n.To, ArchivedSuffix)
}

// ParseArchivedName reads the end of a path as [ArchivedName.String] writes it; false for
// any other.
func ParseArchivedName(path string) (n ArchivedName, ok bool) {
	steps := strings.Split(path, "/")
	if len(steps) < 3 {
		return n, false
	}
	steps = steps[len(steps)-3:]
	numbers := strings.Split(strings.TrimSuffix(steps[2], ArchivedSuffix), "-")
	day, err := time.Parse(time.DateOnly, steps[1])
	if err != nil || len(numbers) != 3 {
		return n, false
	}
	partition, _ := strconv.ParseInt(numbers[0], 10, 32)
	n = ArchivedName{Source: steps[0], Day: day, Partition: int32(partition)}
	n.From, _ = strconv.ParseInt(numbers[1], 10, 64)
	n.To, _ = strconv.ParseInt(numbers[2], 10, 64)
	if n.String() != strings.Join(steps, "/") {
		return ArchivedName{}, false
	}
	return n, true
}
