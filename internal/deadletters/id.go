package deadletters

import (
	"fmt"
	"strconv"
	"strings"
)

// ID names a dead letter by its place in the topic. It is written
// "<partition>-<offset>", as in "3-1704".
type ID struct {
	Partition int32
	Offset    int64
}

// ParseID is the inverse of [ID.String]: other spellings of the same numbers
// ("03-1704", "+3-1704") are refused, so that an id is the same text everywhere.
func ParseID(text string) (ID, error) {
	before, after, found := strings.Cut(text, "-")
	partition, err := strconv.ParseUint(before, 10, 31)
	if found && err == nil {
		var offset uint64
		if offset, err = strconv.ParseUint(after, 10, 63); err == nil {
			id := ID{int32(partition), int64(offset)}
			if id.String() == text {
				return id, nil
			}
		}
	}
	return ID{}, fmt.Errorf("%q: expected the id of a dead letter, <partition>-<offset>, such as 3-1704", text)
}

// String returns "<partition>-<offset>".
func (id ID) String() string {
	return strconv.FormatInt(int64(id.Partition), 10) + "-" + strconv.FormatInt(id.Offset, 10)
}
