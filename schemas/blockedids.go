package schemas

import (
	"bytes"
	"strings"
)

// BlockedIDs tells ids of users that stand for nobody: what a client sends that has
// no user, such as "null" or "undefined". All who have none share such an id, so
// taken for a user's it is one user with the events of thousands.
//
// Without more, nil included, they are those that languages and forms make of
// nothing. It is not changed once it is made.
type BlockedIDs struct{ more map[string]bool }

// NewBlockedIDs returns the usual ones and more, in any case.
func NewBlockedIDs(more []string) *BlockedIDs {
	if len(more) == 0 {
		return nil
	}
	b := &BlockedIDs{more: make(map[string]bool, len(more))}
	for _, id := range more {
		b.more[strings.ToLower(string(bare([]byte(id))))] = true
	}
	return b
}

// Blocks reports whether an id stands for nobody: in any case, with white space or
// quotes around it, and "" too.
func (b *BlockedIDs) Blocks(id []byte) bool {
	id = bare(id)
	if len(id) <= longestUsual && isUsual(id) || isZeros(id) {
		return true
	}
	return b != nil && b.more[string(bytes.ToLower(id))]
}

const longestUsual = len("[object Object]")

// isUsual reports whether an id is one that is blocked everywhere.
func isUsual(id []byte) bool {
	var room [longestUsual]byte
	lower := room[:0]
	for _, c := range id {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower = append(lower, c)
	}
	switch string(lower) {
	case "", "null", "undefined", "none", "nan", "anonymous", "true", "false", "-1", "[object object]":
		return true
	}
	return false
}

// isZeros reports whether an id is a number or a UUID of nothing but zeros.
func isZeros(id []byte) bool {
	return len(id) > 0 && id[0] == '0' && len(bytes.Trim(id, "0-")) == 0
}

// bare returns an id without the white space and the quotes around it.
func bare(id []byte) []byte {
	for {
		id = bytes.TrimSpace(id)
		last := len(id) - 1
		if last < 1 || id[0] != id[last] || id[0] != '"' && id[0] != '\'' {
			return id
		}
		id = id[1:last]
	}
}
