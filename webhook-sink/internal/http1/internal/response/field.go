package response

import (
	"bytes"
	"strings"
	"time"
)

// field is a header field of a response by what it means here.
type field uint8

const (
	noField field = iota // the status line
	otherField
	connection
	contentLength
	keepAlive
	retryAfter
	transferEncoding
)

func fieldOf(name []byte) field {
	switch {
	case equalFold(name, "connection"):
		return connection
	case equalFold(name, "content-length"):
		return contentLength
	case equalFold(name, "keep-alive"):
		return keepAlive
	case equalFold(name, "retry-after"):
		return retryAfter
	case equalFold(name, "transfer-encoding"):
		return transferEncoding
	default:
		return otherField
	}
}

// equalFold compares with a text in lower case. Only ASCII letters have two cases,
// while those of Unicode would make a K of the Kelvin sign.
func equalFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// hasToken looks for a token in a list with commas.
func hasToken(list []byte, lower string) bool {
	for more := true; more; {
		var token []byte
		token, list, more = bytes.Cut(list, []byte(","))
		if equalFold(bytes.Trim(token, " \t"), lower) {
			return true
		}
	}
	return false
}

// idleTime reads the value of Keep-Alive, "timeout=5, max=100" with seconds, and
// leaves a second for the request to arrive in.
func idleTime(value []byte) time.Duration {
	for more := true; more; {
		var part []byte
		part, value, more = bytes.Cut(value, []byte(","))
		name, number, _ := bytes.Cut(part, []byte("="))
		if !equalFold(bytes.Trim(name, " \t"), "timeout") {
			continue
		}
		if seconds, ok := parseDigits(bytes.Trim(number, " \t")); ok {
			return time.Duration(min(seconds, int64(MaxIdle/time.Second)+1)-1) * time.Second
		}
	}
	return MaxIdle
}

// validName accepts a space as net/http does: old servers put one before the colon.
// Such a name is none of those that matter.
func validName(name []byte) bool {
	for _, c := range name {
		if !nameBytes[c] {
			return false
		}
	}
	return len(name) > 0
}

// validValue accepts all but control characters.
func validValue(value []byte) bool {
	for _, c := range value {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

var nameBytes = func() (table [256]bool) {
	for c := range table {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		table[c] = letter || '0' <= c && c <= '9' || c > 0 && strings.IndexByte("!#$%&'*+-.^_`|~ ", byte(c)) >= 0
	}
	return table
}()
