package rules

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anabranch/anabranch/schemas"
)

const (
	maxPathBytes   = 512
	maxBucketBytes = 63

	wantTopic  = "a name that Kafka takes for a topic: letters, digits, dots, hyphens and underscores, 1 to 249"
	wantPath   = "a path, 1 to 512 bytes of printable UTF-8"
	wantBucket = "the name of a bucket: lower-case letters, digits, dots and hyphens, 3 to 63, with a letter or digit at either end"
)

// WantSize says what a size has to be.
const WantSize = "a size such as 64MiB, 1KiB to 4GiB"

// checkTopic keeps exports out of the topics that are read and deleted by rules of their own.
func checkTopic(name string) string {
	switch {
	case !schemas.ValidTopic(name):
		return wantTopic
	case schemas.Reserved(name):
		return "another name: this one is kept for topics of Anabranch or the brokers"
	}
	return ""
}

func checkSize(text string) string {
	if _, ok := ParseSize(text); !ok {
		return WantSize
	}
	return ""
}

var size = regexp.MustCompile(`^([0-9]{1,9})(KiB|MiB|GiB)$`)

// ParseSize returns the bytes that a text such as 64MiB says; false for what is no such
// text, for less than 1KiB and for more than 4GiB, which every object store takes in one piece.
func ParseSize(text string) (bytes int64, ok bool) {
	match := size.FindStringSubmatch(text)
	if match == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(match[1], 10, 64)
	bytes = n << shift(match[2])
	return bytes, err == nil && bytes >= 1<<10 && bytes <= 4<<30
}

func shift(unit string) int { return map[string]int{"KiB": 10, "MiB": 20, "GiB": 30}[unit] }

// FormatSize is the inverse of [ParseSize].
func FormatSize(bytes int64) string {
	for _, unit := range []string{"GiB", "MiB"} {
		if n := bytes >> shift(unit); n > 0 && n<<shift(unit) == bytes {
			return strconv.FormatInt(n, 10) + unit
		}
	}
	return strconv.FormatInt(bytes>>10, 10) + "KiB"
}

func checkPath(path string) string {
	unprintable := func(r rune) bool { return r < ' ' || r == 0x7f }
	if path == "" || len(path) > maxPathBytes || !utf8.ValidString(path) || strings.ContainsFunc(path, unprintable) {
		return wantPath
	}
	return ""
}

var bucket = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

func checkBucket(name string) string {
	if !bucket.MatchString(name) || strings.Contains(name, "..") {
		return wantBucket
	}
	return ""
}
