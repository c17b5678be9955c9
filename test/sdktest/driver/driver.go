package driver

import (
	"context"
	"io"

	"github.com/anabranch/anabranch/test/sdktest/front"
	"github.com/anabranch/anabranch/test/sdktest/scenario"
)

// Driver is one SDK and how to make it speak.
type Driver struct {
	Name  string // for -only and the printed lines
	About string // the SDK's package and version
	// Folder is below test/sdktest/drivers; drivers may share one.
	Folder string
	// Needs are the commands that must be there before anything is installed.
	Needs []string
	// Setup are the command lines that install the SDK, run in the copied folder,
	// one after the other.
	Setup [][]string
	// Pins are the files of the folder that Setup depends on; empty: all of them.
	Pins []string
	// Command is the command line of the program, run in the copied folder.
	Command []string
	// Start runs the program in place of Command, for a driver that needs more
	// around it. It returns when the SDK has ended.
	Start func(ctx context.Context, job *Job) error

	Runs   []Run
	Limits scenario.Limits
	// Adds are the members that the SDK sends beside what it was given, as
	// "anonymousId", "page.anonymousId" or "page.properties.name". Its own context
	// needs no mention: the context may always hold more.
	Adds []string
}

// Mode is how the SDK is told to send.
type Mode string

// The modes.
const (
	// Batch leaves the SDK its batches. It has the crowd of small calls to send.
	Batch Mode = "batch"
	// Each has the SDK send each call in a request of its own.
	Each Mode = "each"
	// Large is Batch with calls that are as large as they may be, and more of them
	// than one request may hold: an SDK has to split them by their bytes.
	Large Mode = "large"
	// Exit is Batch with the SDK ended while its queue is full. It is for SDKs that
	// drop at their end what a fault holds up; the others end that way in Batch.
	Exit Mode = "exit"
)

// Run is one way of running a driver: its name is that of the driver, a slash and
// the mode, with "-gzip" where it compresses.
type Run struct {
	Mode Mode
	Gzip bool
	// Tag is appended to the name when a driver has several runs of one mode.
	Tag string
	// Faults meet the first requests, one each.
	Faults []front.Fault
}

// Name is the run's, below its driver's.
func (r *Run) Name() string {
	name := string(r.Mode)
	if r.Gzip {
		name += "-gzip"
	}
	if r.Tag != "" {
		name += "-" + r.Tag
	}
	return name
}

// Job is what a program is told.
type Job struct {
	Folder   string // of the installed copy
	Endpoint string // base URL, without a trailing slash
	WriteKey string
	Run      Run
	Calls    []scenario.Call
	Scenario string    // path of the file that holds Calls
	Log      io.Writer // for what the program says
}
