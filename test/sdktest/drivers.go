package main

import (
	"slices"

	"github.com/anabranch/anabranch/test/sdktest/driver"
	"github.com/anabranch/anabranch/test/sdktest/front"
)

// drivers lists the SDKs, those that take longest first.
func drivers() []driver.Driver {
	return slices.Concat(javaDrivers(), nodeDrivers(), pythonDrivers(), goDrivers(), browserDrivers())
}

// every fault is one that an SDK should get over.
var every = []front.Fault{front.Unavailable, front.TooManyRequests, front.Cut}

// plain are the runs of an SDK that has nothing special.
func plain() []driver.Run {
	return []driver.Run{
		{Mode: driver.Batch, Faults: every},
		{Mode: driver.Each, Faults: every},
	}
}

// zipped are the runs of an SDK that compresses its requests if it is told to.
func zipped() []driver.Run {
	return append(plain(), driver.Run{Mode: driver.Batch, Gzip: true, Faults: every})
}

// split is the run that an SDK gets over only if it counts the bytes of its
// batches. Those without it make one that is too large, and drop it when they are
// told so.
var split = driver.Run{Mode: driver.Large}
