package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// dataFacts is what the directory of the embedded broker is like.
type dataFacts struct {
	dir     string
	missing bool  // it does not exist, and the rest is about the directory above that does
	err     error // why nothing can be written to it
	free    int64 // bytes; -1: not known
}

// lookAtData tries to write to a directory, or to the one in which it would be
// created.
func lookAtData(dir string) dataFacts {
	facts := dataFacts{dir: dir}
	for {
		info, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
			facts.missing, dir = true, filepath.Dir(dir)
			continue
		}
		if err == nil && !info.IsDir() {
			err = errors.New("it is not a directory")
		}
		if err != nil {
			facts.err = err
			return facts
		}
		break
	}
	facts.free = freeBytes(dir)
	file, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		facts.err = err
		return facts
	}
	facts.err = errors.Join(file.Close(), os.Remove(file.Name()))
	return facts
}

// judgeData judges whether the embedded broker can keep its log there, which may
// grow to about most bytes beside what destinations that are down leave behind.
func judgeData(d dataFacts, most int64) []Finding {
	f := &findings{check: CheckData}
	const none = 64 << 20
	switch {
	case d.err != nil:
		f.problem("DATA_DIR="+d.dir, "can't be written to: "+d.err.Error(), "make it writable for the user that runs anabranch, or choose another directory")
	case d.free >= 0 && d.free < none:
		f.problem("DATA_DIR="+d.dir, fmt.Sprintf("its disk has %s left", mebibytes(d.free)), "make room: calls are answered 503 when the log can't be written")
	case d.free >= 0 && d.free < most:
		f.warn("DATA_DIR="+d.dir, fmt.Sprintf("its disk has %s left, and the log may grow to about %s", mebibytes(d.free), mebibytes(most)), "make room, or lower RAW_EVENTS_RETENTION_BYTES")
	case d.missing:
		f.ok("DATA_DIR="+d.dir, "is created when `anabranch run` starts")
	}
	return f.otherwise(fmt.Sprintf("DATA_DIR=%s can be written to, its disk has %s left", d.dir, mebibytes(max(d.free, 0))))
}
