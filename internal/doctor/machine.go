package doctor

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
)

// spareFiles are those beside connections to clients and receivers: brokers, logs,
// listeners.
const spareFiles = 256

// judgeFiles judges how many files the process may open (zero where that is not
// known) against the connections that the settings allow.
func judgeFiles(limit uint64, connections, attempts int) []Finding {
	f := &findings{check: CheckFiles}
	need := connections + attempts + spareFiles
	if limit == 0 {
		f.ok("", "the limit of open files is not known on this system")
		return f.all
	}
	if limit < uint64(max(need, 0)) {
		f.warn("this shell", fmt.Sprintf("a process may open %d files, and %d connections of clients with %d attempts in flight need about %d", limit, connections, attempts, need),
			"raise the limit (ulimit -n, LimitNOFILE=), or lower INGEST_MAX_CONNECTIONS")
	}
	return f.otherwise(fmt.Sprintf("a process may open %s files, and about %d are needed at most", files(limit), need))
}

func files(limit uint64) string {
	if limit > math.MaxInt32 {
		return "any number of"
	}
	return strconv.FormatUint(limit, 10)
}

// comfortable is a limit that every stage stays below by its settings, whatever
// waits.
const comfortable = 256 << 20

// judgeMemory judges what the control group allows against what Go was told; zero
// is no limit.
func judgeMemory(group, goLimit int64) []Finding {
	f := &findings{check: CheckMemory}
	switch {
	case group == 0:
		f.ok("", "no control group limits the memory of this process")
	case goLimit > group:
		f.problem("GOMEMLIMIT", fmt.Sprintf("is %s, above the %s at which the control group ends this process", mebibytes(goLimit), mebibytes(group)), "set it to "+mebibytes(group/10*9))
	case group < comfortable:
		f.warn("this process", "its control group allows "+mebibytes(group),
			fmt.Sprintf("allow %s; or set GOMEMLIMIT to %s, and lower INGEST_MAX_CONNECTIONS and WEBHOOK_SINK_MAX_IN_FLIGHT_TOTAL", mebibytes(comfortable), mebibytes(group/10*9)))
	}
	return f.otherwise(fmt.Sprintf("the control group allows %s, and %s are enough for each stage", mebibytes(group), mebibytes(comfortable)))
}

// mebibytes writes a size as GOMEMLIMIT takes it.
func mebibytes(n int64) string { return strconv.FormatInt(n>>20, 10) + "MiB" }

// groupLimit is the memory that the control group of the process allows, by the
// files below root ("/" but in tests); zero: no limit. Groups inside others are
// bounded by each of them.
func groupLimit(root string) int64 {
	own, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup")) //nolint:gosec // the kernel's file
	if err != nil {
		return 0
	}
	least := int64(0)
	for path := controlGroup(string(own)); ; path = filepath.Dir(path) {
		if limit := readLimit(filepath.Join(root, "sys/fs/cgroup", path, "memory.max")); limit > 0 && (least == 0 || limit < least) {
			least = limit
		}
		if path == "/" || path == "." {
			return least
		}
	}
}

// controlGroup finds the path of the unified hierarchy.
func controlGroup(text string) string {
	for line := range strings.Lines(text) {
		if path, found := strings.CutPrefix(strings.TrimSpace(line), "0::"); found {
			return filepath.Clean("/" + path)
		}
	}
	return "/"
}

func readLimit(file string) int64 {
	text, err := os.ReadFile(file) //nolint:gosec // the kernel's file
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0 // "max"
	}
	return n
}

// goLimit is GOMEMLIMIT; zero: none.
func goLimit() int64 {
	if n := debug.SetMemoryLimit(-1); n < math.MaxInt64 {
		return n
	}
	return 0
}
