package broker

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// partitionDir is where kfake keeps a partition.
func partitionDir(logDir, topic string, partition int) string {
	return filepath.Join(logDir, "partitions", url.PathEscape(topic)+"-"+strconv.Itoa(partition))
}

// segmentsOf lists the segments of a partition's directory in order. kfake names each by its base: "1234.dat".
func segmentsOf(dir string) ([]segment, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list segments: %w", err)
	}
	var segments []segment
	for _, entry := range entries {
		name, isLog := strings.CutSuffix(entry.Name(), ".dat")
		base, err := strconv.ParseInt(name, 10, 64)
		if !isLog || err != nil {
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted since the listing
		} else if err != nil {
			return nil, fmt.Errorf("list segments: %w", err)
		}
		segments = append(segments, segment{base: base, size: info.Size(), modified: info.ModTime()})
	}
	slices.SortFunc(segments, func(a, b segment) int { return cmp.Compare(a.base, b.base) })
	return segments, nil
}
